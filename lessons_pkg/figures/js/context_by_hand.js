/** <at-context-by-hand>: one context vector, from the words' rows to the weighted sum. */
(() => {
  "use strict";
  if (customElements.get("at-context-by-hand")) return;
  const { AtFigure, h, num, short, dot, softmax, mix } = window.courseFigures;

  const STEPS = ["project", "score", "scale", "softmax", "mix"];
  const LAST = STEPS.length;
  const BELOW = "\u2081\u2082\u2083\u2084\u2085";
  const times = (a, b) => `${a} \u00D7 ${b}`;
  const column = (matrix, j) => matrix.map((row) => row[j]);
  const product = (row, matrix) => matrix[0].map((_, j) => dot(row, column(matrix, j)));
  const vector = (values, decimals) =>
    `(${values.map((value) => num(value, decimals)).join(", ")})`;
  /** A dot product before it is added up. */
  const terms = (a, b) => a.map((x, i) => `(${times(short(x), short(b[i]))})`);
  const matrixName = (letter) => ["W", h("sub", {}, letter)];
  const role = (letter) => h("b", { class: `at-${letter === "z" ? "c" : letter}` }, letter);

  class ContextByHand extends AtFigure {
    static shared = ["query", "step", "without"];

    initial(cfg) {
      return { query: cfg.query, step: LAST, without: false };
    }

    valid(key, value) {
      if (key === "without") return typeof value === "boolean";
      const [low, high] = key === "step" ? [1, LAST] : [0, this.cfg.words.length - 1];
      return Number.isInteger(value) && value >= low && value <= high;
    }

    computed() {
      const { query, step, without } = this.state;
      return { query, step, without, ...this.calculate(query, without) };
    }

    calculate(query, without) {
      const x = this.cfg.x.map((row) => (without ? [...row.slice(0, -1), 0] : row));
      const q = product(x[query], this.cfg.w_q);
      const keys = x.map((row) => product(row, this.cfg.w_k));
      const values = x.map((row) => product(row, this.cfg.w_v));
      const scores = keys.map((key) => dot(q, key));
      const scaled = scores.map((score) => score / Math.sqrt(q.length));
      const weights = softmax(scaled);
      const powers = scaled.map((score) => Math.exp(score));
      return {
        x,
        q,
        keys,
        values,
        scores,
        scaled,
        powers,
        total: powers.reduce((a, b) => a + b, 0),
        weights,
        products: values.map((value, j) => value.map((v) => weights[j] * v)),
        context: mix(weights, values),
      };
    }

    sentence() {
      const { query, step, without, q, scores, scaled, weights, context } = this.computed();
      const { words, twins } = this.cfg;
      const below = BELOW[query];
      const best = scores.indexOf(Math.max(...scores));
      const name = (j) => `word ${j + 1}, \u201C${words[j]}\u201D`;
      const result = [
        `x${below} has three numbers, q${below} = ${vector(q)} has two, ` +
          "and so have all keys and values",
        `the query of ${name(query)}, has its highest score, ${num(scores[best])}, ` +
          `with the key of ${name(best)}`,
        `the highest score, of ${name(best)}, becomes ${num(scaled[best])}`,
        `${name(best)}, gets the most weight, ${num(weights[best])}`,
        `z${below} = ${vector(context, 3)}, two numbers, though x${below} has three`,
      ][step - 1];
      const numbers = [null, scores, scaled, weights, weights][step - 1];
      const places = twins.map((j) => j + 1).join(" and ");
      const pair = `words ${places}, both \u201C${words[twins[0]]}\u201D,`;
      const [one, other] = numbers ? twins.map((j) => num(numbers[j])) : [];
      const same = numbers ? `get ${num(numbers[twins[0]], 4)} each` : "have one key and one value";
      const compared = without
        ? `without the position column ${pair} are equal rows and ${same}`
        : numbers
          ? `${pair} get ${one} and ${other}, because their third column, the position, differs`
          : `${pair} differ in their third column, the position`;
      return `Step ${step}, ${STEPS[step - 1]}: ${result}; ${compared}.`;
    }

    /** Without positions the twins' scores rise; the first one's weight falls all the same. */
    contrast({ query, step, without, scores, weights }) {
      const [twin] = this.cfg.twins;
      const first = this.calculate(query, false);
      if (!without || step < 4) return "";
      if (scores[twin] <= first.scores[twin] || weights[twin] >= first.weights[twin]) return "";
      return (
        ` The score of word ${twin + 1} rises from ${num(first.scores[twin])} to ` +
        `${num(scores[twin])}, yet its weight falls from ${num(first.weights[twin])} to ` +
        `${num(weights[twin])}, because other scores rise more.`
      );
    }

    build() {
      const { words, predict } = this.cfg;
      const say = () => this.sentence();
      const options = words.map((word, j) => [j, [h("b", {}, String(j + 1)), ` ${word}`]]);
      this.marks = []; // nodes that say "this step": [node, step]
      return [
        this.predict(predict),
        h(
          "div",
          { class: "at-cb-ctl" },
          this.seg("query", "query", options, say),
          this.check("without", "without the position column", say),
        ),
        this.stepper({
          name: "Steps of the calculation",
          first: 1,
          last: () => LAST,
          get: () => this.state.step,
          put: (step) => this.set({ step }, say),
          where: (step) => `step ${step} of ${LAST}: ${STEPS[step - 1]}`,
        }),
        this.given(),
        this.table(),
        h("p", { class: "at-cb-hint" }, "The table moves sideways, and follows the steps."),
        this.sum(),
        h("p", { class: "at-say" }, (this.readout = h("span"))),
        h(
          "p",
          { class: "at-cb-note" },
          "A weight is e to the power of the scaled score, divided by the sum of all five powers. ",
          "Printed rounded, calculated unrounded. ",
          (this.rounding = h("span")),
          " The lecture speaks scores and weights for the query \u201Cball\u201D, but no matrix: ",
          ["X, ", matrixName("Q"), " and ", matrixName("K")],
          " are chosen to give them. ",
          matrixName("V"),
          " is free, and this course\u2019s own choice.",
        ),
        this.foot(),
      ];
    }

    /** The name of a step, marked while it is the current one. */
    label(step, node = h("span")) {
      node.classList.add("at-cb-step");
      node.append(`${step} ${STEPS[step - 1]}`);
      this.marks.push([node, step]);
      return node;
    }

    /** X and the three matrices, and the query written out. */
    given() {
      const { words, x, w_q: wQ, w_k: wK, w_v: wV } = this.cfg;
      const matrix = (name, plain, rows, heads, shape, kind) => {
        const cells = rows.map((row) => row.map((value) => h("td", {}, num(value, 1))));
        const node = h(
          "div",
          { class: `at-cb-matrix at-cb-${kind}` },
          h("p", { class: "at-cb-name" }, name),
          h(
            "table",
            {},
            h("caption", {}, plain),
            h(
              "tbody",
              {},
              cells.map((row, i) =>
                h(
                  "tr",
                  {},
                  heads && h("th", { scope: "row" }, h("span", {}, `${i + 1} ${heads[i]}`)),
                  row,
                ),
              ),
            ),
          ),
          shape,
        );
        return { node, cells };
      };
      const small = (...text) => h("p", { class: "at-cb-shape" }, ...text);
      const all = matrix(
        "X",
        "X, one row a word, 5 \u00D7 3",
        x,
        words,
        small("5 \u00D7 3, ", (this.third = h("span"))),
        "x",
      );
      this.cells = all.cells;
      const weights = [
        ["Q", "query", wQ, "q"],
        ["K", "key", wK, "k"],
        ["V", "value", wV, "v"],
      ].map(
        ([letter, word, rows, kind]) =>
          matrix(
            [matrixName(letter), " for ", role(kind)],
            `W_${letter}, gives each ${word}, 3 \u00D7 2`,
            rows,
            null,
            small("3 \u00D7 2"),
            kind,
          ).node,
      );
      this.written = [h("p"), h("p")];
      return h(
        "section",
        { class: "at-cb-part", "aria-label": "Step 1, project" },
        h("p", { class: "at-cb-head" }, this.label(1), (this.how = h("span"))),
        h(
          "div",
          { class: "at-cb-given" },
          all.node,
          h("div", { class: "at-cb-maps" }, weights),
          h("div", { class: "at-cb-written" }, this.written),
        ),
      );
    }

    /** One row a key, one column a step. A cell is filled when its step is reached. */
    table() {
      const line = (...children) => h("span", {}, ...children);
      const columns = [
        {
          name: ["key ", role("k"), ", value ", role("v")],
          fill: (j, c) => [
            line(role("k"), ` ${vector(c.keys[j])}`),
            line(role("v"), ` ${vector(c.values[j])}`),
          ],
        },
        {
          name: [role("q"), " \u00B7 ", role("k")],
          fill: (j, c) => {
            const [first, second] = terms(c.q, c.keys[j]);
            return [line(`${first} +`), line(`${second} `, h("b", {}, `= ${num(c.scores[j])}`))];
          },
        },
        { name: ["\u00F7 \u221A2"], fill: (j, c) => [line(num(c.scaled[j]))] },
        {
          name: ["weight w"],
          fill: (j, c) => {
            const pill = h("b", { class: "at-pill" }, num(c.weights[j]));
            const bar = h("i", { class: "at-weightbar" });
            pill.style.setProperty("--t", c.weights[j].toFixed(3));
            bar.style.width = `${(100 * c.weights[j]).toFixed(2)}%`;
            return [
              line(`${num(c.powers[j])} \u00F7 ${num(c.total)}`),
              h("div", { class: "at-cb-bar" }, pill, h("div", { class: "at-track" }, bar)),
            ];
          },
        },
        {
          name: ["w \u00D7 ", role("v")],
          fill: (j, c) =>
            c.values[j].map((v, d) =>
              line(
                `${times(num(c.weights[j]), short(v))} `,
                h("b", {}, `= ${num(c.products[j][d], 3)}`),
              ),
            ),
        },
      ];
      this.fills = columns.map((column) => column.fill);
      this.heads = columns.map(({ name }, i) =>
        h("th", { scope: "col" }, this.label(i + 1), " ", line(name)),
      );
      this.rows = this.cfg.words.map(() => columns.map(() => h("td")));
      const body = this.rows.map((cells, j) =>
        h("tr", {}, h("th", { scope: "row" }, `${j + 1} ${this.cfg.words[j]}`), cells),
      );
      this.box = h(
        "div",
        { class: "at-scroll at-cb-box", role: "group", "aria-label": "Table of the keys" },
        h(
          "table",
          { class: "at-cb-keys" },
          (this.caption = h("caption")),
          h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "word"), this.heads)),
          h("tbody", {}, body),
        ),
      );
      new ResizeObserver(() => this.follow()).observe(this.box);
      return this.box;
    }

    /**
     * On a narrow page the table moves so that the current step's column is seen, with as many
     * whole columns before it as fit. A column cut on its left could show a wrong number.
     */
    follow() {
      const keys = this.box.firstChild;
      keys.style.minWidth = "";
      const starts = this.heads.map((head) => head.offsetLeft);
      const words = starts[0]; // their column stays in place
      const last = this.heads[this.state.step - 1];
      const end = last.offsetLeft + last.offsetWidth;
      const { scrollWidth, clientWidth } = this.box;
      this.box.tabIndex = scrollWidth > clientWidth ? 0 : -1;
      const fits = (start) => start === last.offsetLeft || end - start <= clientWidth - words;
      const moved = starts.find(fits) - words;
      // Room to the right, so that the last column can stand beside the words.
      if (moved) keys.style.minWidth = `${moved + clientWidth}px`;
      this.box.scrollLeft = moved;
    }

    sum() {
      this.sums = [h("p"), h("p")];
      return h(
        "section",
        { class: "at-cb-part at-cb-sum", "aria-label": "Step 5, the sum" },
        h("p", { class: "at-cb-head" }, this.label(LAST), (this.mixed = h("span"))),
        this.sums,
      );
    }

    render() {
      const all = this.computed();
      const { query, step, without, x, q, weights, products, context } = all;
      const { words, w_q: wQ } = this.cfg;
      const below = BELOW[query];
      const notYet = () => [
        h("span", { "aria-hidden": "true" }, "\u2013"),
        h("span", { class: "at-vh" }, "not yet"),
      ];
      this.marks.forEach(([node, at]) => {
        node.classList.toggle("at-cb-now", at === step);
        if (at === step) node.setAttribute("aria-current", "step");
        else node.removeAttribute("aria-current");
      });
      this.cells.forEach((row, i) => {
        row.forEach((cell, d) => (cell.textContent = num(x[i][d], 1)));
        row[0].parentNode.classList.toggle("at-on", i === query && step === 1);
      });
      this.third.textContent = without ? "column 3 set to 0" : "column 3: position";
      this.how.replaceChildren(
        " ",
        role("q"),
        `${below} = x${below} `,
        ...matrixName("Q"),
        `, the query of \u201C${words[query]}\u201D: its row of X times each column of `,
        ...matrixName("Q"),
      );
      this.written.forEach((line, d) =>
        line.replaceChildren(
          `${terms(x[query], column(wQ, d)).join(" + ")} `,
          h("b", {}, `= ${num(q[d])}`),
        ),
      );
      this.caption.textContent =
        `Query ${query + 1}, ${words[query]}: score, weight and product of each key`;
      this.rows.forEach((cells, j) =>
        cells.forEach((cell, c) =>
          cell.replaceChildren(...(c < step ? this.fills[c](j, all) : notYet())),
        ),
      );
      this.mixed.replaceChildren(
        " ",
        role("z"),
        `${below} = the sum of w \u00D7 `,
        role("v"),
        `, the context vector of \u201C${words[query]}\u201D`,
      );
      this.sums.forEach((line, d) =>
        line.replaceChildren(
          ...(step < LAST
            ? notYet()
            : [
                `${products.map((row) => num(row[d], 3)).join(" + ")} `,
                h("b", {}, "= ", h("span", { class: "at-cb-z" }, num(context[d], 3))),
              ]),
        ),
      );
      const printed = num(weights.reduce((sum, w) => sum + Number(w.toFixed(2)), 0));
      this.rounding.textContent =
        step < 4 ? "" : `The printed weights add to ${printed}, the unrounded ones to 1.`;
      this.readout.textContent = this.sentence() + this.contrast(all);
      if (step !== this.followed) this.follow();
      this.followed = step;
    }
  }

  customElements.define("at-context-by-hand", ContextByHand);
})();
