/** <at-recurrence>: a sentence read word by word, and all at once; each word's influence. */
(() => {
  "use strict";
  if (customElements.get("at-recurrence")) return;
  const { AtFigure, h, num, dot, softmax, mix } = window.courseFigures;

  // The bars' scale, in powers of ten; a smaller number has no bar, but keeps its digits.
  const LOW = -6;
  const HIGH = 0.5;
  const FACTORS = [0.5, 1.5];
  const DIMS = [0, 1, 2];
  const RAISED = "\u2070\u00B9\u00B2\u00B3\u2074\u2075\u2076\u2077\u2078\u2079";
  const raised = (n) =>
    (n < 0 ? "\u207B" : "") + [...String(Math.abs(n))].map((digit) => RAISED[digit]).join("");

  /** Two digits that count, with a power of ten where the number is small. */
  function power(x) {
    if (x === 0) return "0";
    let exponent = Math.floor(Math.log10(x));
    let lead = (x / 10 ** exponent).toFixed(1);
    if (lead === "10.0") [exponent, lead] = [exponent + 1, "1.0"];
    if (exponent < -2) return `${lead} \u00D7 10${raised(exponent)}`;
    return (lead * 10 ** exponent).toFixed(Math.max(1 - exponent, 0));
  }

  /** Where a power of ten lies on the bars' scale, in percent. */
  const place = (exponent) =>
    Math.max(0, Math.min(100, ((exponent - LOW) / (HIGH - LOW)) * 100));
  const column = (matrix, j) => matrix.map((row) => row[j]);
  const norm = (matrix) => Math.hypot(...matrix.flat());
  const product = (a, b) => a.map((row) => DIMS.map((j) => dot(row, column(b, j))));
  /** diag(1 - h^2) times the transpose: how the state moves with what the matrix multiplies. */
  const slope = (state, matrix) =>
    DIMS.map((i) => DIMS.map((k) => (1 - state[i] ** 2) * matrix[k][i]));
  const vector = (values) => `(${values.map((value) => num(value)).join(", ")})`;
  const whole = (value, low, high) => Number.isInteger(value) && value >= low && value <= high;

  class Recurrence extends AtFigure {
    static shared = ["length", "step", "factor"];

    initial(cfg) {
      return { length: cfg.length, step: cfg.length, factor: 1 };
    }

    valid(key, value) {
      const { length } = this.cfg.words;
      if (key === "length") return whole(value, 2, length);
      if (key === "step") return whole(value, 1, length);
      return typeof value === "number" && value >= FACTORS[0] && value <= FACTORS[1];
    }

    /** The step shown never lies behind the sentence's end. */
    get step() {
      return Math.min(this.state.step, this.state.length);
    }

    computed() {
      const { length, factor } = this.state;
      const x = this.cfg.x.slice(0, length);
      const hidden = this.states(x, factor);
      const { weights, context, influence } = this.attention(x);
      return {
        length,
        step: this.step,
        factor,
        hidden,
        weights,
        context,
        recurrent: this.wayBack(hidden.slice(0, this.step), factor),
        attention: influence,
        waits: [length, 1],
      };
    }

    states(x, factor) {
      const { w, u, b } = this.cfg;
      let state = [0, 0, 0];
      return x.map((row) => {
        state = DIMS.map((i) =>
          Math.tanh(dot(row, column(w, i)) + factor * dot(state, column(u, i)) + b[i]),
        );
        return state;
      });
    }

    /** Norms of the Jacobians of the last of these states, one for each word. */
    wayBack(hidden, factor) {
      const u = this.cfg.u.map((row) => row.map((value) => factor * value));
      let way = DIMS.map((i) => DIMS.map((j) => Number(i === j)));
      const norms = hidden.map(() => 0);
      for (let t = hidden.length - 1; t >= 0; t--) {
        norms[t] = norm(product(way, slope(hidden[t], this.cfg.w)));
        way = product(way, slope(hidden[t], u));
      }
      return norms;
    }

    /** The last word looks at all words; its own vector is query, key and value at once. */
    attention(x) {
      const root = Math.sqrt(DIMS.length);
      const last = x.length - 1;
      const weights = softmax(x.map((key) => dot(x[last], key) / root));
      const context = mix(weights, x);
      const pull = (j, along) =>
        DIMS.map((a) => DIMS.map((b) => (weights[j] * (x[j][a] - context[a]) * along[b]) / root));
      const influence = x.map((_, t) => {
        const parts = [pull(t, x[last])];
        if (t === last) parts.push(...x.map((key, j) => pull(j, key)));
        return norm(
          DIMS.map((a) =>
            DIMS.map((b) =>
              parts.reduce((sum, part) => sum + part[a][b], a === b ? weights[t] : 0),
            ),
          ),
        );
      });
      return { weights, context, influence };
    }

    sentence() {
      const { step, recurrent, attention } = this.computed();
      const { words } = this.cfg;
      return (
        `After step ${step}, the influence of \u201C${words[0]}\u201D, word 1, is ` +
        `${power(recurrent[0])} in the recurrent network; in attention it is ` +
        `${power(attention[0])}, after 1 step.`
      );
    }

    build() {
      this.parts = {};
      const say = () => this.sentence();
      return [
        this.predict(this.cfg.predict),
        h(
          "div",
          { class: "at-rv-ctl" },
          this.slider({
            key: "length",
            label: "sentence",
            min: 2,
            max: this.cfg.words.length,
            step: 1,
            text: (value) => `${value} words`,
            put: (length) => ({ length, step: length }),
            say,
          }),
          this.slider({
            key: "factor",
            label: "U times",
            min: FACTORS[0],
            max: FACTORS[1],
            step: 0.1,
            text: (value) => num(value, 1),
            put: (value) => ({ factor: Math.round(value * 10) / 10 }),
            say,
          }),
        ),
        h(
          "div",
          { class: "at-rv-pair" },
          this.panel(
            "recurrent",
            "Recurrent network",
            this.stepper({
              name: "Steps through the words",
              first: 1,
              last: () => this.state.length,
              get: () => this.step,
              put: (step) => this.set({ step }, say),
            }),
          ),
          this.panel("attention", "Attention", h("p", { class: "at-rv-all" }, "Each word is one step away.")),
        ),
        h("p", { class: "at-rv-hint" }, (this.depth = h("span"))),
        h("p", { class: "at-say" }, (this.readout = h("span"))),
        this.foot(),
      ];
    }

    panel(name, title, control) {
      const rows = this.cfg.words.map((word, t) => {
        const bar = h("i");
        const value = h("td", { class: "at-rv-num" });
        const label = h("span", { class: "at-rv-word" }, word);
        const line = h(
          "tr",
          {},
          h("th", { scope: "row" }, h("span", { class: "at-rv-place" }, String(t + 1)), label),
          h("td", { class: "at-rv-cell" }, h("span", { class: "at-rv-track" }, bar)),
          value,
        );
        return { line, bar, value, label };
      });
      const tick = (exponent, text) => {
        const mark = h("span", {}, text);
        mark.style.left = `${place(exponent)}%`;
        return mark;
      };
      const part = {
        rows,
        steps: h("b"),
        wait: h("span"),
        vector: h("p", { class: "at-rv-vector" }),
        caption: h("caption"),
        note: h("p", { class: "at-rv-note" }),
      };
      this.parts[name] = part;
      return h(
        "section",
        { class: `at-rv-panel at-rv-${name}`, "aria-label": title },
        h("p", { class: "at-rv-name" }, title),
        h("p", { class: "at-rv-count" }, part.steps, part.wait),
        control,
        part.vector,
        h(
          "table",
          { class: "at-rv-bars" },
          part.caption,
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              h("th", { scope: "col" }, "word"),
              h(
                "th",
                { scope: "col", class: "at-rv-scale" },
                h("span", {}, [
                  tick(-6, `10${raised(-6)}`),
                  tick(-3, `10${raised(-3)}`),
                  tick(0, "1"),
                ]),
              ),
              h("th", { scope: "col", class: "at-rv-num" }, "influence"),
            ),
          ),
          h(
            "tbody",
            {},
            rows.map((row) => row.line),
          ),
        ),
        part.note,
      );
    }

    /** The first word that comes again before the last place, and its places. */
    again() {
      const before = this.cfg.words.slice(0, this.state.length - 1);
      const word = before.find((each, t) => before.indexOf(each, t + 1) > 0);
      const places = before.flatMap((each, t) => (each === word ? [t + 1] : []));
      return word && { word, places: `${places.slice(0, -1).join(", ")} and ${places.at(-1)}` };
    }

    fill(part, values, length, last) {
      part.rows.forEach(({ line, bar, value, label }, t) => {
        const shown = values[t] !== undefined;
        line.hidden = t >= length;
        line.classList.toggle("at-on", t === last);
        label.classList.toggle("at-rv-unread", !shown);
        bar.style.width = shown ? `${place(Math.log10(values[t])).toFixed(2)}%` : "0";
        value.textContent = shown ? power(values[t]) : "not read yet";
        value.classList.toggle("at-rv-unread", !shown);
      });
    }

    render() {
      const { length, step, hidden, context, recurrent, attention } = this.computed();
      const { words } = this.cfg;
      const { recurrent: left, attention: right } = this.parts;
      left.steps.textContent = `${length} steps`;
      left.wait.textContent = "one after another";
      right.steps.textContent = "1 step";
      right.wait.textContent = `all ${length} words at once`;
      left.vector.replaceChildren(
        h("b", {}, "state h"),
        ` after \u201C${words[step - 1]}\u201D = ${vector(hidden[step - 1])}`,
      );
      right.vector.replaceChildren(
        h("b", { class: "at-c" }, "Z"),
        ` of \u201C${words[length - 1]}\u201D = ${vector(context)}`,
      );
      left.caption.textContent = `Influence of each word on the state after step ${step}`;
      right.caption.textContent = "Influence of each word on the last word\u2019s context vector";
      this.fill(left, recurrent, length, step - 1);
      this.fill(right, attention, length, length - 1);
      left.note.textContent =
        "Each step back multiplies by U and by the slope of tanh, 1 \u2212 h\u00B2, which is " +
        "never above 1. Where tanh is nearly flat, influence can fade even if U alone makes it grow.";
      const again = this.again();
      right.note.replaceChildren(
        again
          ? `Equal words, equal bars: \u201C${again.word}\u201D at ${again.places}. `
          : "Only its vector decides a word\u2019s bar, not its place. ",
        "The last bar differs: that word is also the ",
        h("b", { class: "at-q" }, "query"),
        ".",
      );
      this.depth.textContent =
        "Influence: Frobenius norm of the Jacobian, \u2202h/\u2202x for the network, " +
        "\u2202Z/\u2202x for attention. Bars: powers of ten. Steps count what must wait, not " +
        `the work: for all words, attention compares ${length} \u00D7 ${length} pairs in its one step.`;
      this.readout.textContent = this.sentence();
    }
  }

  customElements.define("at-recurrence", Recurrence);
})();
