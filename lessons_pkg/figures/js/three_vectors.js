/** <at-three-vectors>: three words as points; score, softmax and weighted sum as they move. */
(() => {
  "use strict";
  if (customElements.get("at-three-vectors")) return;
  const { AtFigure, h, num, short, dot, softmax, mix } = window.courseFigures;

  const LIMIT = 2;
  const SIZE = 320;
  const UNIT = 70; // pixels for 1
  const across = (x) => SIZE / 2 + x * UNIT;
  const up = (y) => SIZE / 2 - y * UNIT;
  const clamp = (x) => Math.max(-LIMIT, Math.min(LIMIT, x));
  const toStep = (x) => Math.round(clamp(x) * 20) / 20;
  const DIMS = [0, 1, 2];
  const MARKS = ["circle", "square", "triangle"];

  class ThreeVectors extends AtFigure {
    static shared = ["x", "query", "scaled"];

    initial(cfg) {
      return { x: cfg.x.map((row) => row.slice()), query: cfg.query, scaled: false };
    }

    valid(key, value) {
      if (key === "query") return DIMS.includes(value);
      if (key === "scaled") return typeof value === "boolean";
      const good = (n) => typeof n === "number" && Math.abs(n) <= LIMIT;
      const row = (r) => Array.isArray(r) && r.length === 3 && r.every(good);
      return Array.isArray(value) && value.length === 3 && value.every(row);
    }

    computed() {
      const { x, query, scaled } = this.state;
      const raw = x.map((key) => dot(x[query], key));
      const scores = raw.map((score) => (scaled ? score / Math.sqrt(3) : score));
      const weights = softmax(scores);
      return { raw, scores, weights, context: mix(weights, x) };
    }

    move(word, patch) {
      const x = this.state.x.map((row) => row.slice());
      for (const [d, value] of Object.entries(patch)) x[word][d] = value;
      this.set({ x }, () => this.sentence());
    }

    sentence() {
      const { weights } = this.computed();
      const { words } = this.cfg;
      const top = Math.max(...weights);
      const most = words.filter((_, j) => top - weights[j] < 1e-9);
      const name = words[this.state.query];
      if (most.length === 3) return `\u201C${name}\u201D looks at all three equally.`;
      const list = most.map((word) => `\u201C${word}\u201D`).join(" and ");
      return `\u201C${name}\u201D looks most at ${list} (${num(top)}).`;
    }

    build() {
      const { words } = this.cfg;
      const say = () => this.sentence();
      return [
        this.predict(this.cfg.predict),
        h(
          "div",
          { class: "at-ctl" },
          this.seg(
            "query",
            "query",
            words.map((word, i) => [i, word]),
            say,
          ),
          this.check("scaled", "divide by \u221A3", say),
        ),
        h("div", { class: "at-pair" }, this.plane(), this.inputs()),
        this.table(),
        h("p", { class: "at-say" }, (this.readout = h("span"))),
        this.foot(),
      ];
    }

    inputs() {
      const { words } = this.cfg;
      const wrong = h("p", { class: "at-wrong", id: `${this.id}-wrong` });
      const cell = (i, d) =>
        this.number({
          wrong,
          label: `${words[i]}, dimension ${d + 1}`,
          min: -LIMIT,
          max: LIMIT,
          step: 0.1,
          get: () => this.state.x[i][d],
          put: (value) => this.move(i, { [d]: value }),
        });
      this.names = words.map((word) => h("div", { class: "at-lab" }, word));
      return h(
        "div",
        { class: "at-inputs", role: "group", "aria-label": "The three vectors" },
        h("div"),
        DIMS.map((d) => h("div", { class: "at-dim" }, `dim ${d + 1}`)),
        words.map((_, i) => [this.names[i], DIMS.map((d) => cell(i, d))]),
        h("div", { class: "at-lab at-c" }, "Z"),
        (this.context = DIMS.map(() => h("div", { class: "at-val at-c" }))),
        h(
          "p",
          { class: "at-hint" },
          "Type numbers from \u22122 to 2, drag a point, or focus it and use the arrow keys. ",
          "Dim 3 is not drawn.",
        ),
        wrong,
      );
    }

    plane() {
      const line = (x1, y1, x2, y2, name) => h("line", { x1, y1, x2, y2, class: name });
      const ticks = [-2, -1, 1, 2].flatMap((t) => [
        line(across(t), 8, across(t), SIZE - 8, "at-gridline"),
        line(8, up(t), SIZE - 8, up(t), "at-gridline"),
        h(
          "text",
          { x: across(t), y: up(0) + 16, "text-anchor": "middle", class: "at-tick" },
          num(t, 0),
        ),
        h(
          "text",
          { x: across(0) - 6, y: up(t) + 5, "text-anchor": "end", class: "at-tick" },
          num(t, 0),
        ),
      ]);
      this.triangle = h("polygon", { class: "at-hull" });
      this.arms = DIMS.map(() => h("line", { class: "at-arm" }));
      this.handles = this.cfg.words.map((word, i) => this.handle(word, i));
      this.z = h(
        "g",
        { class: "at-z" },
        h("path", { d: "M0 -13L13 0L0 13L-13 0Z" }), // larger than a mark that lies on it
        h("text", {}, "Z"),
      );
      this.svg = h(
        "svg",
        {
          class: "at-plane",
          viewBox: `0 0 ${SIZE} ${SIZE}`,
          width: SIZE,
          height: SIZE,
          role: "group",
          "aria-label": "Plane: dimension 1 across, dimension 2 up",
        },
        h("rect", { x: 0.5, y: 0.5, width: SIZE - 1, height: SIZE - 1, class: "at-frame" }),
        ticks,
        line(8, up(0), SIZE - 8, up(0), "at-axis"),
        line(across(0), 8, across(0), SIZE - 8, "at-axis"),
        h("text", { x: SIZE - 10, y: up(0) + 34, "text-anchor": "end", class: "at-tick" }, "dim 1"),
        h("text", { x: across(0) + 8, y: 20, class: "at-tick" }, "dim 2"),
        this.triangle,
        this.arms,
        this.z,
        this.handles,
      );
      return this.svg;
    }

    handle(word, i) {
      const shape = {
        circle: () => h("circle", { r: 7 }),
        square: () => h("rect", { x: -6.5, y: -6.5, width: 13, height: 13 }),
        triangle: () => h("path", { d: "M0 -8L8 6.5L-8 6.5Z" }),
      }[MARKS[i]]();
      const follow = (event) => {
        const box = this.svg.getBoundingClientRect();
        const scale = SIZE / box.width;
        this.move(i, {
          0: toStep(((event.clientX - box.left) * scale - SIZE / 2) / UNIT),
          1: toStep((SIZE / 2 - (event.clientY - box.top) * scale) / UNIT),
        });
      };
      let held = false;
      const release = () => (held = false);
      return h(
        "g",
        {
          class: `at-handle at-s${i + 1}`,
          tabindex: "0",
          role: "slider",
          "aria-label": `${word}: arrow keys move the point`,
          "aria-valuemin": -LIMIT,
          "aria-valuemax": LIMIT,
          onpointerdown: (event) => {
            held = true;
            event.currentTarget.setPointerCapture(event.pointerId);
          },
          onpointermove: (event) => held && follow(event),
          onpointerup: release,
          onpointercancel: release,
          onkeydown: (event) => {
            const step = {
              ArrowLeft: [0, -0.05],
              ArrowRight: [0, 0.05],
              ArrowUp: [1, 0.05],
              ArrowDown: [1, -0.05],
            }[event.key];
            if (!step) return;
            event.preventDefault();
            this.move(i, { [step[0]]: toStep(this.state.x[i][step[0]] + step[1]) });
          },
        },
        h("circle", { r: 18, class: "at-hit" }),
        h("g", { class: "at-mark" }, shape),
        h("text", { x: 11, y: -9 }, word),
      );
    }

    table() {
      this.rows = this.cfg.words.map((word) => {
        const row = {
          terms: h("td", { class: "at-terms" }),
          score: h("td"),
          bar: h("i", { class: "at-weightbar" }),
          weight: h("span", { class: "at-pill" }),
        };
        row.line = h(
          "tr",
          {},
          h("th", { scope: "row" }, word),
          row.terms,
          row.score,
          h(
            "td",
            { class: "at-weight" },
            h("div", {}, row.weight, h("span", { class: "at-track" }, row.bar)),
          ),
        );
        return row;
      });
      this.caption = h("caption");
      this.scoreHead = h("th", { scope: "col" });
      return h(
        "table",
        { class: "at-list" },
        this.caption,
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col", class: "at-k" }, "key"),
            h("th", { scope: "col", class: "at-terms" }, "query \u00D7 key, term by term"),
            this.scoreHead,
            h("th", { scope: "col", class: "at-weight" }, "weight"),
          ),
        ),
        h(
          "tbody",
          {},
          this.rows.map((row) => row.line),
        ),
      );
    }

    /** Write Z in the first corner of its mark where it covers no word. */
    placeZ() {
      const label = this.z.lastChild;
      const words = this.handles.map((handle) => handle.lastChild.getBoundingClientRect());
      const below = [-11, 11].map((x) => [x, 21]);
      const above = [-11, 11].map((x) => [x, -9]);
      for (const [x, y] of [...below, ...above, [-11, 36], [11, -24]]) {
        label.setAttribute("x", x);
        label.setAttribute("y", y);
        label.setAttribute("text-anchor", x < 0 ? "end" : "start");
        const z = label.getBoundingClientRect();
        const apart = (w) =>
          w.right <= z.left || z.right <= w.left || w.bottom <= z.top || z.bottom <= w.top;
        if (words.every(apart)) return;
      }
    }

    render() {
      const { x, query, scaled } = this.state;
      const { words } = this.cfg;
      const { scores, weights, context } = this.computed();
      this.caption.textContent = `Query ${words[query]}: score and weight of each key`;
      this.scoreHead.textContent = scaled ? "score \u00F7 \u221A3" : "score";
      this.rows.forEach((row, j) => {
        row.terms.textContent = x[query]
          .map((value, d) => `(${short(value)} \u00D7 ${short(x[j][d])})`)
          .join(" + ");
        row.score.textContent = num(scores[j]);
        row.weight.textContent = num(weights[j]);
        row.weight.style.setProperty("--t", weights[j].toFixed(3));
        row.bar.style.width = `${(weights[j] * 100).toFixed(1)}%`;
      });
      this.names.forEach((name, i) => name.classList.toggle("at-q", i === query));
      this.context.forEach((cell, d) => (cell.textContent = num(context[d])));
      this.handles.forEach((handle, i) => {
        const [a, b] = x[i];
        handle.setAttribute("transform", `translate(${across(a)} ${up(b)})`);
        handle.setAttribute("aria-valuenow", a);
        handle.setAttribute("aria-valuetext", `dim 1 ${short(a)}, dim 2 ${short(b)}`);
        handle.classList.toggle("at-on", i === query);
        const label = handle.lastChild;
        const right = a > 1.5;
        label.setAttribute("x", right ? -11 : 11);
        label.setAttribute("text-anchor", right ? "end" : "start");
        label.setAttribute("y", b > 1.85 ? 20 : -9);
        const arm = this.arms[i];
        arm.setAttribute("x1", across(context[0]));
        arm.setAttribute("y1", up(context[1]));
        arm.setAttribute("x2", across(a));
        arm.setAttribute("y2", up(b));
        arm.style.strokeWidth = weights[i] < 0.05 ? 0 : 1 + 5 * weights[i];
      });
      this.triangle.setAttribute("points", x.map(([a, b]) => `${across(a)},${up(b)}`).join(" "));
      this.z.setAttribute("transform", `translate(${across(context[0])} ${up(context[1])})`);
      this.placeZ();
      this.readout.replaceChildren(
        h("b", { class: "at-c" }, "Z"),
        " = ",
        weights.map((weight, j) => `${num(weight)} \u00B7 ${words[j]}`).join(" + "),
        ` = (${context.map((value) => num(value)).join(", ")}). `,
        this.sentence(),
      );
    }
  }

  customElements.define("at-three-vectors", ThreeVectors);
})();
