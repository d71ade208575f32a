/** <at-key-explorer>: a key matrix to edit; keys, scores, and the weights of one query. */
(() => {
  "use strict";
  if (customElements.get("at-key-explorer")) return;
  const { AtFigure, h, num, short, dot, softmax } = window.courseFigures;

  const LIMIT = 3;
  const DIMS = [0, 1, 2];
  const ROOT = Math.sqrt(DIMS.length);
  const SAME = 1e-9;
  const PAIRS = [
    [1, 2],
    [0, 2],
    [0, 1],
  ];
  /** Without the last bits of the arithmetic, so that equal numbers have equal digits. */
  const clean = (x) => Number(x.toFixed(9));
  const digits = (x, decimals) => num(clean(x), decimals);
  const times = (row, matrix) =>
    DIMS.map((j) =>
      dot(
        row,
        matrix.map((line) => line[j]),
      ),
    );
  const copy = (matrix) => matrix.map((row) => row.slice());
  const equal = (a, b) => a.flat().every((value, i) => value === b.flat()[i]);
  /** The least of 1, 2, 5, 10, 20 … that no score exceeds. */
  function nice(x) {
    const power = 10 ** Math.floor(Math.log10(Math.max(x, 0.5)));
    return [1, 2, 5, 10].map((step) => step * power).find((limit) => x <= limit + SAME);
  }
  const w = () => h("b", { class: "at-ke-w" }, "W", h("sub", {}, "K"));
  const head = (attributes, ...children) => h("th", { scope: "col", ...attributes }, ...children);

  class KeyExplorer extends AtFigure {
    static shared = ["w", "keys", "scaled"];

    initial(cfg) {
      return { w: copy(cfg.w), keys: "two", scaled: false };
    }

    valid(key, value) {
      if (key === "keys") return ["two", "all"].includes(value);
      if (key === "scaled") return typeof value === "boolean";
      const good = (n) => typeof n === "number" && Math.abs(n) <= LIMIT;
      const row = (r) => Array.isArray(r) && r.length === 3 && r.every(good);
      return Array.isArray(value) && value.length === 3 && value.every(row);
    }

    /** A preset is no state of its own: choosing one writes the matrix … */
    set({ preset, ...patch }, say) {
      const found = this.cfg.presets.find(([name]) => name === preset);
      super.set(found ? { ...patch, w: copy(found[1]) } : patch, say);
    }

    /** … and the matrix says which one is on, if any. */
    refresh() {
      const found = this.cfg.presets.find(([, matrix]) => equal(matrix, this.state.w));
      this.state.preset = found ? found[0] : "";
      super.refresh();
    }

    /** The keys that the first word looks at. */
    get chosen() {
      return this.state.keys === "all" ? DIMS : [1, 2];
    }

    computed() {
      const { x } = this.cfg;
      const { w: matrix, scaled } = this.state;
      const keys = x.map((row) => times(row, matrix));
      const score = (query, key) => dot(query, key) / (scaled ? ROOT : 1);
      const scores = x.map((query) => keys.map((key) => score(query, key)));
      const before = x.map((key) => score(x[0], key));
      const weigh = (row) => softmax(this.chosen.map((j) => row[j]));
      return {
        keys,
        scores,
        scoresBefore: before,
        weights: weigh(scores[0]),
        weightsBefore: weigh(before),
        symmetric: PAIRS.every(([i, j]) => Math.abs(scores[i][j] - scores[j][i]) < SAME),
      };
    }

    sentence() {
      const { weights, symmetric } = this.computed();
      const { words } = this.cfg;
      const list = this.chosen.map((j, n) => `${words[j]} ${digits(weights[n], 4)}`);
      return (
        `\u201C${words[0]}\u201D gives ${list.slice(0, -1).join(", ")} and ${list.at(-1)}. ` +
        `The score table is ${symmetric ? "" : "not "}symmetric.`
      );
    }

    build() {
      const { words, presets, note } = this.cfg;
      const say = () => this.sentence();
      const rest = words.slice(1);
      this.wrong = h("p", { class: "at-wrong", id: `${this.id}-wrong` });
      return [
        this.predict(this.cfg.predict),
        h(
          "div",
          { class: "at-ctl at-ke-ctl" },
          this.seg(
            "preset",
            w(),
            presets.map(([name]) => [name, name]),
            say,
          ),
          this.seg(
            "keys",
            h("b", { class: "at-k" }, "keys"),
            [
              ["two", rest.join(" and ")],
              ["all", "all three words"],
            ],
            say,
          ),
          this.check("scaled", "divide by \u221A3", say),
        ),
        this.product(),
        h(
          "div",
          { class: "at-ke-pair" },
          h(
            "div",
            { class: "at-ke-part" },
            this.row(),
            h("p", { class: "at-ke-note" }, "Before: keys are the words\u2019 own vectors. ", note),
          ),
          h(
            "div",
            { class: "at-ke-part" },
            this.square(),
            (this.symmetry = h("p", { class: "at-ke-symmetry" })),
            h(
              "p",
              { class: "at-ke-note" },
              "A key matrix that equals its transpose always gives a symmetric table.",
            ),
          ),
        ),
        h(
          "p",
          { class: "at-legend" },
          h(
            "span",
            {},
            "scores ",
            (this.low = h("b")),
            h("i", { class: "at-ke-bar" }),
            (this.high = h("b")),
          ),
          h("span", {}, "weights ", h("b", {}, "0"), h("i", { class: "at-bar" }), h("b", {}, "1")),
        ),
        h("p", { class: "at-say" }, (this.readout = h("span"))),
        this.foot(),
      ];
    }

    /** X times the key matrix is K. */
    product() {
      const { words, x } = this.cfg;
      const heads = () => DIMS.map((d) => head({ class: "at-ke-dim" }, `dim ${d + 1}`));
      const matrix = (name, caption, role, cells) =>
        h(
          "table",
          { class: `at-ke-matrix ${role}` },
          h("caption", {}, caption),
          h("thead", {}, h("tr", {}, head({ class: "at-ke-name" }, name), heads())),
          h(
            "tbody",
            {},
            words.map((word, i) => h("tr", {}, h("th", { scope: "row" }, word), cells[i])),
          ),
        );
      const own = x.map((row) => row.map((value) => h("td", {}, short(value))));
      this.cells = words.map(() => DIMS.map(() => h("td")));
      const input = (i, d) =>
        this.number({
          wrong: this.wrong,
          label: `W K, row ${i + 1}, column ${d + 1}`,
          min: -LIMIT,
          max: LIMIT,
          step: 0.1,
          get: () => this.state.w[i][d],
          put: (value) => {
            const next = copy(this.state.w);
            next[i][d] = value;
            this.set({ w: next }, () => this.sentence());
          },
        });
      return h(
        "div",
        { class: "at-ke-product" },
        matrix("X", "X: the words\u2019 vectors, one row a word", "at-ke-x", own),
        h(
          "div",
          { class: "at-ke-factor" },
          h("span", { class: "at-ke-sign" }, "\u00D7"),
          h(
            "div",
            { class: "at-ke-inputs", role: "group", "aria-label": "The key matrix" },
            h("div", { class: "at-ke-name" }, w()),
            DIMS.map((i) => DIMS.map((d) => input(i, d))),
          ),
        ),
        h(
          "div",
          { class: "at-ke-factor" },
          h("span", { class: "at-ke-sign" }, "="),
          matrix(h("span", { class: "at-k" }, "K"), "K: one key a row", "at-ke-k", this.cells),
        ),
        h(
          "p",
          { class: "at-ke-note at-ke-range" },
          `Type numbers from \u2212${LIMIT} to ${LIMIT} into the middle matrix.`,
        ),
        this.wrong,
      );
    }

    /** One query: score and weight of each key, before the matrix and now. */
    row() {
      const { words } = this.cfg;
      this.columns = words.map((word) => head({}, word));
      this.caption = h("caption");
      const lines = ["score before", "score now", "weight before", "weight now"].map((name, n) => {
        const cells = words.map(() => {
          const value = h("span", { class: n < 2 ? "at-ke-score" : "at-pill" });
          const mark = h("span", { class: "at-ke-mark", "aria-hidden": "true" });
          const word = h("span", { class: "at-vh" });
          return { value, mark, word, cell: h("td", {}, value, n % 2 === 1 && [mark, word]) };
        });
        const label = h("th", { scope: "row" }, name);
        const line = h(
          "tr",
          { class: n % 2 ? "at-ke-now" : null },
          label,
          cells.map((each) => each.cell),
        );
        return { cells, line, label, name };
      });
      this.lines = lines;
      const query = h("span", { class: "at-ke-query" }, words[0]);
      return h(
        "table",
        { class: "at-ke-row" },
        this.caption,
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            head(
              { class: "at-ke-axes" },
              h("b", { class: "at-k" }, "keys \u2192"),
              h("br"),
              h("b", { class: "at-q" }, "query "),
              query,
            ),
            this.columns,
          ),
        ),
        h(
          "tbody",
          {},
          lines.map((each) => each.line),
        ),
      );
    }

    /** All scores, rows are queries. */
    square() {
      const { words } = this.cfg;
      this.scores = words.map(() => words.map(() => h("td", { class: "at-ke-score" })));
      this.squareCaption = h("caption");
      return h(
        "table",
        { class: "at-ke-square" },
        this.squareCaption,
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            head(
              { class: "at-corner" },
              h("span", { class: "at-k" }, "keys \u2192"),
              h("span", { class: "at-q" }, "queries \u2193"),
            ),
            words.map((word) => head({}, word)),
          ),
        ),
        h(
          "tbody",
          {},
          words.map((word, i) =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, h("span", { class: i ? null : "at-ke-query" }, word)),
              this.scores[i],
            ),
          ),
        ),
      );
    }

    /** A cell's digits, and its place on the scores' ramp. */
    tint(node, value, limit) {
      node.textContent = digits(value, 2);
      node.style.setProperty("--t", (Math.abs(value) / limit).toFixed(3));
      node.classList.toggle("at-ke-neg", value < -SAME);
    }

    /** Names the two places that are equal, or those that differ most. */
    pairs(scores, symmetric) {
      const { words } = this.cfg;
      const gap = ([i, j]) => Math.abs(scores[i][j] - scores[j][i]);
      const most = PAIRS.reduce((a, b) => (gap(b) > gap(a) + SAME ? b : a));
      const [i, j] = symmetric ? [0, 2] : most;
      const there = `${words[i]}\u2192${words[j]}`;
      const back = `${words[j]}\u2192${words[i]}`;
      if (symmetric) return `yes \u2013 ${there} = ${back} = ${digits(scores[i][j], 2)}`;
      const alike = digits(scores[i][j], 2) === digits(scores[j][i], 2);
      const [a, b] = [scores[i][j], scores[j][i]].map((value) => digits(value, alike ? 4 : 2));
      return `no \u2013 ${there} ${a} \u2260 ${back} ${b}`;
    }

    render() {
      const { words } = this.cfg;
      const { scaled } = this.state;
      const { keys, scores, scoresBefore, weights, weightsBefore, symmetric } = this.computed();
      const { chosen } = this;
      const by = scaled ? " \u00F7 \u221A3" : "";
      this.cells.forEach((row, i) =>
        row.forEach((cell, d) => (cell.textContent = short(clean(keys[i][d])))),
      );
      const all = [...scores.flat(), ...scoresBefore];
      const limit = nice(Math.max(...all.map(Math.abs)));
      this.low.textContent = `\u2212${limit}`;
      this.high.textContent = String(limit);

      const spread = (row) => words.map((_, j) => row[chosen.indexOf(j)]);
      const now = [scores[0], spread(weights)];
      const before = [scoresBefore, spread(weightsBefore)];
      this.caption.textContent = `Query ${words[0]}: score${by} and weight of each key`;
      this.columns.forEach((column, j) => (column.hidden = !chosen.includes(j)));
      this.lines.forEach(({ cells, label, name }, n) => {
        const kind = n >> 1;
        if (!kind) label.textContent = name.replace("score", `score${by}`);
        cells.forEach(({ value, mark, word, cell }, j) => {
          cell.hidden = !chosen.includes(j);
          if (cell.hidden) return;
          const shown = (n % 2 ? now : before)[kind][j];
          if (kind) {
            value.textContent = digits(shown, 2);
            value.style.setProperty("--t", shown.toFixed(3));
          } else this.tint(value, shown, limit);
          const step = now[kind][j] - before[kind][j];
          const moved = Math.abs(step) > SAME;
          mark.textContent = moved ? (step > 0 ? "\u2191" : "\u2193") : "=";
          word.textContent = moved ? (step > 0 ? " rises" : " falls") : " stays";
        });
      });

      this.squareCaption.textContent = `Scores${by}: rows are queries, columns are keys`;
      this.scores.forEach((row, i) =>
        row.forEach((cell, j) => this.tint(cell, scores[i][j], limit)),
      );
      this.symmetry.replaceChildren(h("b", {}, "symmetric: "), this.pairs(scores, symmetric));

      const list = (values) =>
        chosen.map((j, n) => `${words[j]} ${digits(values[n], 4)}`).join(", ");
      const gap = (row) => digits(row[1] - row[2], 2);
      this.readout.replaceChildren(
        `\u201C${words[0]}\u201D gives weights ${list(weights)}; before, ${list(weightsBefore)}. `,
        `The softmax sees differences only: ${words[1]}\u2019s score minus ${words[2]}\u2019s `,
        `goes from ${gap(scoresBefore)} to ${gap(scores[0])}.`,
      );
    }
  }

  customElements.define("at-key-explorer", KeyExplorer);
})();
