/** <at-training-scrubber>: one training, frame by frame: two rows of weights, and the loss. */
(() => {
  "use strict";
  if (customElements.get("at-training-scrubber")) return;
  const { AtFigure, h, num } = window.courseFigures;

  const FLOOR = Math.log(2);
  const ORDER = ["first", "second"];
  const quoted = (word) => `\u201C${word}\u201D`;
  /** Two decimals; three where the record's four stop right at a tie. */
  const weight = (x) => num(x, Math.round(x * 1e4) % 100 === 50 ? 3 : 2);
  const most = (row) => row.indexOf(Math.max(...row));

  class TrainingScrubber extends AtFigure {
    static shared = ["positions", "frame"];

    initial(cfg) {
      this.last = cfg.steps.length - 1;
      this.end = cfg.steps[this.last];
      const runs = [cfg.run, cfg.control].filter(Boolean);
      this.top = 1.04 * Math.max(FLOOR, ...runs.flatMap((run) => run.losses));
      return { positions: cfg.positions, frame: this.last };
    }

    valid(key, value) {
      if (key === "positions") return typeof value === "boolean" && Boolean(this.cfg.control);
      return Number.isInteger(value) && value >= 0 && value <= this.last;
    }

    get run() {
      return this.state.positions === this.cfg.positions ? this.cfg.run : this.cfg.control;
    }

    computed() {
      const { frame } = this.state;
      const { losses, values, weights } = this.run;
      return {
        step: this.cfg.steps[frame],
        loss: losses[frame],
        valueLoss: values[frame],
        rows: weights[frame],
        right: weights[frame].map((row, k) => row[this.cfg.nouns[k]]),
      };
    }

    sentence() {
      const { step, loss, right } = this.computed();
      const [one, two] = this.cfg.nouns.map((place) => quoted(this.cfg.tokens[place]));
      return (
        `At step ${step} the first \u201Cit\u201D gives ${one} the weight ${weight(right[0])}, ` +
        `the second gives ${two} ${weight(right[1])}; the loss is ${num(loss, 4)}.`
      );
    }

    /** Where the largest weights lie. */
    finding() {
      const { rows } = this.computed();
      const { tokens, nouns } = this.cfg;
      const tops = rows.map(most);
      if (tops.every((top, k) => top === nouns[k])) {
        return "Each \u201Cit\u201D looks most at its own noun.";
      }
      if (rows[0].every((x, j) => x === rows[1][j])) return "The two rows are equal.";
      const [one, two] = tops.map((top) => quoted(tokens[top]));
      return one === two
        ? `Both \u201Cit\u201D look most at ${one}.`
        : `The first looks most at ${one}, the second at ${two}.`;
    }

    build() {
      const say = () => this.sentence();
      const slider = this.slider({
        key: "frame",
        label: "training",
        min: 0,
        max: this.last,
        step: 1,
        text: (frame) => `step ${this.cfg.steps[frame]} of ${this.end}`,
        put: (frame) => ({ frame }),
        say,
      });
      return [
        this.predict(this.cfg.predict),
        this.cfg.control &&
          h(
            "div",
            { class: "at-ctl at-ts-ctl" },
            this.seg(
              "positions",
              "vectors",
              [
                [true, "with positions"],
                [false, "without positions"],
              ],
              say,
            ),
          ),
        this.strips(),
        h(
          "p",
          { class: "at-legend" },
          h("span", {}, "weight 0", h("span", { class: "at-bar" }), "1; those of one \u201Cit\u201D sum to 1"),
          h("span", {}, "\u2713 outlined: the noun that this \u201Cit\u201D stands for"),
        ),
        this.chart(),
        slider,
        h("p", { class: "at-say" }, (this.readout = h("span")), " ", (this.found = h("b"))),
        (this.note = h("p", { class: "at-ts-note" })),
        this.foot(),
      ];
    }

    /** One table; a style sheet turns it, so that a narrow one has a row for each word. */
    strips() {
      const { tokens, nouns } = this.cfg;
      this.cells = ORDER.map((_, k) =>
        tokens.map((_, j) => {
          const text = h("span");
          if (j !== nouns[k]) return { node: h("td", { role: "cell" }, text), text };
          const tick = { class: "at-ts-tick", role: "img", "aria-label": "its noun" };
          const mark = h("span", tick, "\u2713");
          return { node: h("td", { role: "cell", class: "at-ts-own" }, text, mark), text };
        }),
      );
      const head = (word, j) => {
        const name = this.cfg.pronouns.includes(j) && "at-ts-it";
        return h("th", { scope: "col", role: "columnheader", class: name }, word);
      };
      const row = (cells, k) =>
        h(
          "tr",
          { role: "row" },
          h(
            "th",
            { scope: "row", role: "rowheader" },
            h("b", {}, `${ORDER[k]} it`),
            h("span", {}, `= ${tokens[nouns[k]]}`),
          ),
          cells.map((cell) => cell.node),
        );
      return h(
        "table",
        { class: "at-ts-strips", role: "table" },
        h("caption", {}, "Weights of the two \u201Cit\u201D over the words of the sentence"),
        h(
          "thead",
          { role: "rowgroup" },
          h(
            "tr",
            { role: "row" },
            h(
              "th",
              { class: "at-corner", scope: "col", role: "columnheader" },
              h("span", { class: "at-k" }, "keys"),
              h("span", { class: "at-q" }, "queries"),
            ),
            tokens.map(head),
          ),
        ),
        h("tbody", { role: "rowgroup" }, this.cells.map(row)),
      );
    }

    /** Lines are stretched to the box; words and marks are HTML on top and keep their size. */
    chart() {
      const height = (loss) => `${(100 * loss) / this.top}%`;
      this.place = (step, loss) => {
        this.spot.style.left = this.now.style.left = `${(100 * step) / this.end}%`;
        this.spot.style.bottom = this.now.style.height = height(loss);
      };
      const unit = [0.1, 0.2, 0.5, 1, 2, 5, 10].find((each) => this.top / each <= 4) || this.top;
      const levels = [...Array(Math.floor(this.top / unit) + 1).keys()].map((i) => i * unit);
      const marks = levels.map((level) => {
        const mark = h("span", { class: "at-ts-y" }, num(level, unit < 1 ? 1 : 0));
        mark.style.bottom = height(level);
        return mark;
      });
      const steps = [0, 0.25, 0.5, 0.75, 1].map((part) => {
        const mark = h("span", { class: "at-ts-x" }, String(Math.round(part * this.end)));
        mark.style.left = `${100 * part}%`;
        return mark;
      });
      const floor = h("span", { class: "at-ts-floor" }, `ln 2 = ${num(FLOOR, 3)}`);
      floor.style.bottom = height(FLOOR);
      const path = (name) => h("path", { class: name, "vector-effect": "non-scaling-stroke" });
      this.curves = [path("at-ts-other"), path("at-ts-curve")];
      const name = (each) => h("span", { class: `at-ts-name ${each}` });
      this.names = ["at-ts-other", "at-ts-curve"].map(name);
      this.spot = h("span", { class: "at-ts-spot" });
      this.now = h("span", { class: "at-ts-now" });
      this.plot = h(
        "div",
        { class: "at-ts-plot", role: "img" },
        h(
          "svg",
          {
            viewBox: `0 0 ${this.end} ${this.top}`,
            preserveAspectRatio: "none",
            "aria-hidden": "true",
          },
          this.curves,
        ),
        marks,
        steps,
        floor,
        this.now,
        this.names,
        this.spot,
      );
      return h(
        "div",
        { class: "at-ts-chart" },
        h(
          "p",
          { class: "at-ts-loss" },
          h("b", {}, "loss "),
          (this.loss = h("b")),
          h("span", {}, " mean of \u2212ln(weight on the right noun), over the training sentences"),
        ),
        this.plot,
      );
    }

    line(run) {
      const points = run.losses.map((loss, i) => `${this.cfg.steps[i]} ${this.top - loss}`);
      return `M${points.join("L")}`;
    }

    render() {
      const { step, loss, valueLoss, rows } = this.computed();
      const { positions } = this.state;
      const { cfg, run } = this;
      this.cells.forEach((row, k) =>
        row.forEach(({ node, text }, j) => {
          text.textContent = weight(rows[k][j]);
          node.style.setProperty("--t", rows[k][j].toFixed(3));
        }),
      );
      // The other run is drawn only beside the control: else it would give the answer away.
      const other = run === cfg.run ? null : cfg.run;
      const named = (with_) => (with_ ? "with positions" : "without positions");
      [other, run].forEach((each, i) => {
        this.curves[i].setAttribute("d", each ? this.line(each) : "");
        const name = this.names[i];
        name.textContent = each ? named(i ? positions : !positions) : "";
        if (each) name.style.bottom = `${(100 * each.losses[this.last]) / this.top}%`;
      });
      this.plot.classList.toggle("at-ts-without", !positions);
      this.place(step, loss);
      this.loss.textContent = num(loss, 4);
      this.plot.setAttribute(
        "aria-label",
        `Loss over ${this.end} steps ${named(positions)}: from ${num(run.losses[0], 4)} to ` +
          `${num(run.losses[this.last], 4)}; the line at ln 2 is ${num(FLOOR, 3)}.`,
      );
      this.readout.textContent = this.sentence();
      this.found.textContent = this.finding();
      this.note.textContent =
        (positions
          ? "Training never saw this sentence, but all its sentences have this pattern: the " +
            "first \u201Cit\u201D means the first noun, the second the second. So the maps " +
            "learnt to pick a noun by its place, not by its meaning. "
          : "Equal vectors get equal queries, so two nouns share one row. At best each weight is " +
            "\u00BD, and \u2212ln\u00A0\u00BD = ln\u00A02: no step can bring the loss below that line. ") +
        `A second, small part of the loss trains W_V; here it is ` +
        (valueLoss ? `${num(valueLoss, 4)}.` : "below 0.0001.");
    }
  }

  customElements.define("at-training-scrubber", TrainingScrubber);
})();
