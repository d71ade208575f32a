/**
 * The base of every live figure. A plain script without dependencies; loading it twice is harmless.
 *
 * A figure extends courseFigures.AtFigure and writes: static shared (the state keys that may travel
 * in the URL), initial(cfg), valid(key, value), build() once, render() from the state alone, and
 * computed(), which gives the present numbers at full precision.
 */
(() => {
  "use strict";
  if (window.courseFigures) return;

  const SVG = new Set(["svg", "g", "rect", "path", "line", "circle", "polygon", "text"]);
  const PROPERTIES = new Set(["tabIndex", "checked", "value"]);
  let unnamed = 0;

  /** Make a node. The only way nodes are made: no innerHTML, so words like <pad> are safe. */
  function h(tag, attributes = {}, ...children) {
    const node = SVG.has(tag)
      ? document.createElementNS("http://www.w3.org/2000/svg", tag)
      : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value == null || value === false) continue;
      if (typeof value === "function") node.addEventListener(name.slice(2), value);
      else if (PROPERTIES.has(name)) node[name] = value;
      else node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
    return node;
  }

  /** Digits as the page prints them: a true minus sign, never a negative zero. */
  function num(x, decimals = 2) {
    const text = x.toFixed(decimals);
    return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "\u2212");
  }

  /** One decimal where that is exact, else two. */
  function short(x) {
    return num(x, Math.abs(x * 10 - Math.round(x * 10)) < 1e-9 ? 1 : 2);
  }

  function dot(a, b) {
    return a.reduce((sum, x, i) => sum + x * b[i], 0);
  }

  function softmax(row) {
    const top = Math.max(...row);
    const powers = row.map((x) => Math.exp(x - top));
    const total = powers.reduce((a, b) => a + b, 0);
    return powers.map((x) => x / total);
  }

  /** The weighted sum of vectors. */
  function mix(weights, vectors) {
    return vectors[0].map((_, d) =>
      dot(
        weights,
        vectors.map((v) => v[d]),
      ),
    );
  }

  class AtFigure extends HTMLElement {
    static shared = [];

    connectedCallback() {
      if (this.started) return;
      this.started = true;
      // While the page is still read, the fallback inside this element is not there yet.
      if (document.readyState === "loading") {
        document.addEventListener("DOMContentLoaded", () => this.begin(), { once: true });
      } else this.begin();
    }

    begin() {
      this.fallback = [...this.childNodes];
      this.syncs = [];
      this.classList.add("at-fig");
      try {
        this.cfg = JSON.parse(this.getAttribute("config"));
        if (!this.id) this.id = `${this.localName}-${++unnamed}`;
        this.start = this.initial(this.cfg);
        const linked = this.fromHash();
        this.state = { ...this.start, ...linked };
        this.live = h("div", { class: "at-vh", role: "status" });
        this.replaceChildren(...this.head(), ...this.build().filter(Boolean), this.live);
        this.setAttribute("role", "group");
        this.setAttribute("aria-labelledby", `${this.id}-t`);
        this.refresh();
        this.dataset.ready = "true";
        addEventListener("hashchange", () => {
          const fresh = this.fromHash();
          if (fresh) this.set({ ...this.start, ...fresh });
        });
        if (linked) requestAnimationFrame(() => this.scrollIntoView({ block: "start" }));
      } catch (error) {
        this.fail(error);
      }
    }

    head() {
      return [
        h("p", { class: "at-title", id: `${this.id}-t` }, this.cfg.title),
        this.cfg.sub && h("p", { class: "at-sub" }, this.cfg.sub),
      ].filter(Boolean);
    }

    /** The table Python wrote comes back, under one line that says what went wrong. */
    fail(error) {
      const text = `This figure could not start (${error.message}). Its first values are below.`;
      this.replaceChildren(h("p", { class: "at-error", role: "alert" }, text), ...this.fallback);
    }

    /** The one way the state changes; `say` is announced when the reader has stopped. */
    set(patch, say) {
      Object.assign(this.state, patch);
      const linked = Object.keys(patch).some((key) => this.constructor.shared.includes(key));
      if (this.copied && linked) this.copied.textContent = ""; // the link holds an older state
      cancelAnimationFrame(this.frame);
      this.frame = requestAnimationFrame(() => this.refresh());
      if (say) this.say(say);
    }

    refresh() {
      this.syncs.forEach((sync) => sync());
      this.render();
    }

    say(text) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => {
        this.live.textContent = typeof text === "function" ? text() : text;
      }, 500);
    }

    /** May this value, from a link, become the state? Figures narrow it. */
    valid(key, value) {
      return typeof value === typeof this.start[key];
    }

    fromHash() {
      const [name, query] = location.hash.slice(1).split("?");
      if (query === undefined || name !== this.id) return null;
      const found = {};
      for (const [key, text] of new URLSearchParams(query)) {
        if (!this.constructor.shared.includes(key)) continue;
        try {
          const value = JSON.parse(text);
          if (this.valid(key, value)) found[key] = value;
        } catch {
          // A broken link is no link.
        }
      }
      return Object.keys(found).length ? found : null;
    }

    link() {
      const query = new URLSearchParams();
      for (const key of this.constructor.shared) {
        const value = JSON.stringify(this.state[key]);
        if (value !== JSON.stringify(this.start[key])) query.set(key, value);
      }
      const text = query.toString();
      const url = `${location.href.split("#")[0]}#${this.id}${text ? `?${text}` : ""}`;
      try {
        history.replaceState(null, "", url);
      } catch {
        // A sandboxed frame may not change its address.
      }
      const local = location.protocol === "file:" ? " It works on this computer only." : "";
      const done = (text) => {
        this.copied.textContent = text + local;
        this.say(text + local);
      };
      const here = () => done("The link is in the address bar.");
      if (navigator.clipboard) {
        navigator.clipboard.writeText(url).then(() => done("Link copied."), here);
      } else here();
    }

    button(label, onclick, attributes = {}) {
      return h("button", { type: "button", onclick, ...attributes }, label);
    }

    foot() {
      const reset = () => this.set(structuredClone(this.start), "Back to the first values.");
      return h(
        "div",
        { class: "at-foot" },
        (this.copied = h("span", { class: "at-copied" })),
        this.button("Reset", reset, { class: "at-quiet" }),
        this.button("Copy link", () => this.link(), { class: "at-quiet" }),
      );
    }

    check(key, label, say) {
      const input = h("input", {
        type: "checkbox",
        onchange: () => this.set({ [key]: input.checked }, say),
      });
      this.syncs.push(() => (input.checked = this.state[key]));
      return h("label", { class: "at-check" }, input, label);
    }

    /** Radio buttons drawn as one segmented control. */
    seg(key, legend, options, say) {
      const labels = options.map(([value, text]) => {
        const input = h("input", {
          type: "radio",
          name: `${this.id}-${key}`,
          value,
          onchange: () => this.set({ [key]: value }, say),
        });
        this.syncs.push(() => (input.checked = this.state[key] === value));
        return h("label", {}, input, h("span", {}, text));
      });
      return h(
        "fieldset",
        { class: "at-seg" },
        h("legend", {}, legend),
        h("div", { class: "at-segs" }, labels),
      );
    }

    /**
     * A number cell. A bad entry keeps the last good state; leaving the cell shows that again.
     * Meanwhile `wrong`, a node with an id, says what was expected.
     */
    number({ label, min, max, step, get, put, wrong }) {
      const input = h("input", { type: "number", min, max, step, "aria-label": label });
      input.addEventListener("input", () => {
        const typed = input.value.trim() === "" ? NaN : Number(input.value);
        const good = typed >= min && typed <= max;
        input.setAttribute("aria-invalid", String(!good));
        explain(!good);
        if (good) put(Math.round(typed * 100) / 100);
      });
      const explain = (bad) => {
        if (!wrong) return;
        const range = `${num(min, 0)} to ${num(max, 0)}`;
        const text = `\u2717 ${label}: write a number from ${range}. ${short(get())} stays.`;
        wrong.textContent = bad ? text : "";
        if (bad) input.setAttribute("aria-describedby", wrong.id);
        else input.removeAttribute("aria-describedby");
        if (bad) this.say(text);
      };
      const show = () => (input.value = String(get()));
      input.addEventListener("blur", () => {
        input.removeAttribute("aria-invalid");
        explain(false);
        show();
      });
      this.syncs.push(() => document.activeElement !== input && show());
      return input;
    }

    /**
     * A native slider: its keys and its touch come for free. `text` writes the value for the eye
     * and the ear, `put` turns a number into a patch of the state.
     */
    slider({ key, label, min, max, step, text, put, say }) {
      const id = `${this.id}-${key}`;
      const output = h("output", { for: id });
      const input = h("input", {
        type: "range",
        id,
        min,
        max,
        step,
        oninput: () => this.set(put(Number(input.value)), say),
      });
      this.syncs.push(() => {
        const shown = text(this.state[key]);
        input.value = String(this.state[key]);
        input.setAttribute("aria-valuetext", shown);
        output.textContent = shown;
      });
      return h("div", { class: "at-range" }, h("label", { for: id }, label), input, output);
    }

    /** First, previous, next, last; Home, End and the arrows work anywhere in the group. */
    stepper({ name, first, last, get, put, where }) {
      const targets = {
        Home: () => first,
        ArrowLeft: () => get() - 1,
        ArrowRight: () => get() + 1,
        End: last,
      };
      const go = (key) => {
        const step = targets[key]();
        if (step >= first && step <= last() && step !== get()) put(step);
      };
      const onkeydown = (event) => {
        if (!targets[event.key] || event.altKey || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        go(event.key);
      };
      const button = (text, label, key) =>
        this.button(text, () => go(key), { "aria-label": label });
      const back = [
        button("\u21E4", "First step", "Home"),
        button("\u2190", "Previous step", "ArrowLeft"),
      ];
      const on = [
        button("\u2192", "Next step", "ArrowRight"),
        button("\u21E5", "Last step", "End"),
      ];
      const place = h("span", { class: "at-where" });
      const text = where || ((step) => `step ${step} of ${last()}`);
      const disable = (ended) => (each) => each.setAttribute("aria-disabled", String(ended));
      this.syncs.push(() => {
        back.forEach(disable(get() === first));
        on.forEach(disable(get() === last()));
        place.textContent = text(get());
      });
      return h(
        "div",
        { class: "at-steps", role: "group", "aria-label": name, onkeydown },
        back,
        place,
        on,
      );
    }

    /** Asks first, never locks: an answer shows why, and sets the figure to the state asked about. */
    predict(question) {
      if (!question) return null;
      const verdict = h("p", { role: "status" });
      const answer = h("b"); // marks the right option after a wrong guess
      const buttons = question.options.map((option, i) =>
        this.button(
          option,
          () => {
            buttons.forEach((other, j) => other.setAttribute("aria-pressed", String(i === j)));
            const right = i === question.answer;
            answer.textContent = right ? "" : " \u2713 right";
            buttons[question.answer].append(answer);
            verdict.replaceChildren(
              h("strong", {}, right ? "\u2713 Yes. " : "\u2717 Not quite. "),
              question.why,
            );
            this.set(structuredClone({ ...this.start, ...question.show }));
          },
          { "aria-pressed": "false" },
        ),
      );
      return h(
        "fieldset",
        { class: "at-predict" },
        h("legend", {}, `Predict first: ${question.ask}`),
        h("div", { class: "at-options" }, buttons),
        verdict,
      );
    }

    /** A heat map as a grid: one Tab stop, arrows inside; hover, focus and tap all set state.at. */
    heat(size, caption) {
      const indices = [...Array(size).keys()];
      const at = (i, j) => this.set({ at: [i, j] });
      const cells = indices.map((i) =>
        indices.map((j) =>
          h("td", {
            role: "gridcell",
            tabIndex: i + j ? -1 : 0,
            onfocus: () => at(i, j),
            onpointerenter: (event) => event.pointerType !== "touch" && at(i, j),
            onclick: () => cells[i][j].focus({ preventScroll: true }),
          }),
        ),
      );
      const head = (scope, role) => () => h("th", { scope, role }, h("span"));
      const columns = indices.map(head("col", "columnheader"));
      const rows = indices.map(head("row", "rowheader"));
      const onkeydown = (event) => {
        const [i, j] = this.state.at || [0, 0];
        const target = {
          ArrowUp: [i - 1, j],
          ArrowDown: [i + 1, j],
          ArrowLeft: [i, j - 1],
          ArrowRight: [i, j + 1],
          Home: [i, 0],
          End: [i, size - 1],
        }[event.key];
        if (!target) return;
        event.preventDefault();
        const cell = cells[target[0]]?.[target[1]];
        if (!cell) return;
        cells.flat().forEach((other) => (other.tabIndex = other === cell ? 0 : -1));
        cell.focus();
      };
      const corner = h(
        "th",
        { class: "at-corner", scope: "col", role: "columnheader" },
        h("span", { class: "at-k" }, "keys \u2192"),
        h("span", { class: "at-q" }, "queries \u2193"),
      );
      const table = h(
        "table",
        {
          class: "at-heat",
          role: "grid",
          onkeydown,
          onpointerleave: () => !table.contains(document.activeElement) && this.set({ at: null }),
          onfocusout: (event) => !table.contains(event.relatedTarget) && this.set({ at: null }),
        },
        h("caption", {}, caption),
        h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, corner, columns)),
        h(
          "tbody",
          { role: "rowgroup" },
          indices.map((i) => h("tr", { role: "row" }, rows[i], cells[i])),
        ),
      );
      const fill = (names, values, decimals) => {
        const [row, column] = this.state.at || [-1, -1];
        indices.forEach((i) => {
          rows[i].firstChild.textContent = names[i];
          columns[i].firstChild.textContent = names[i];
          rows[i].classList.toggle("at-on", i === row);
          columns[i].classList.toggle("at-on", i === column);
          indices.forEach((j) => {
            cells[i][j].textContent = num(values[i][j], decimals);
            cells[i][j].style.setProperty("--t", values[i][j].toFixed(3));
            cells[i][j].classList.toggle("at-on", i === row && j === column);
          });
        });
      };
      return { table, fill };
    }
  }

  window.courseFigures = { AtFigure, h, num, short, dot, softmax, mix };

  /** A page that loads this file from beside the others gets the scripts of its own figures. */
  const from = document.currentScript?.src;
  if (from) {
    const load = () => {
      const names = [...document.querySelectorAll("[config]")].map((node) => node.localName);
      for (const name of new Set(names.filter((each) => each.startsWith("at-")))) {
        if (customElements.get(name)) continue;
        const file = `${name.slice(3).replaceAll("-", "_")}.js`;
        document.head.append(h("script", { src: new URL(file, from).href }));
      }
    };
    if (document.readyState === "loading") {
      document.addEventListener("DOMContentLoaded", load, { once: true });
    } else load();
  }
})();
