/** <at-soft-lookup>: a dictionary of films; one value by a hard look-up, a mix by a soft one. */
(() => {
  "use strict";
  if (customElements.get("at-soft-lookup")) return;
  const { AtFigure, h, num, short, dot, softmax, mix } = window.courseFigures;

  const DIMS = [0, 1, 2];
  const NEAR = 1e-9;
  const plain = (x) => String(Math.round(x * 100) / 100).replace("-", "\u2212");
  const vector = (values) => `(${values.map(plain).join(", ")})`;
  const list = (words) =>
    words.length < 2 ? words.join() : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
  /** A weight is never 0, so it is not written as 0. */
  const share = (x) => (x < 0.0005 ? "below 0.001 and above 0" : num(x, 3));
  const same = (a, b) => a.every((x, d) => x === b[d]);

  class SoftLookup extends AtFigure {
    static shared = ["query", "temperature", "action"];

    initial(cfg) {
      return { query: cfg.query.slice(), temperature: 1, action: cfg.action };
    }

    valid(key, value) {
      if (key === "action") return typeof value === "boolean";
      if (key === "temperature") return this.cfg.temperatures.includes(value);
      const good = (x) => typeof x === "number" && Math.abs(x) <= this.cfg.limit;
      return Array.isArray(value) && value.length === 3 && value.every(good);
    }

    /** A named query is only a way to write three numbers. */
    set({ preset, ...patch }, say) {
      if (preset) patch.query = new Map(this.cfg.queries).get(preset).slice();
      super.set(patch, say);
    }

    /** What the controls show follows from the query and the temperature. */
    refresh() {
      const { query, temperature } = this.state;
      const { queries, temperatures } = this.cfg;
      this.state.preset = queries.find(([, named]) => same(named, query))?.[0];
      this.state.notch = temperatures.indexOf(temperature);
      super.refresh();
    }

    /** Indices of the shelves that are there. */
    get shelves() {
      return [...this.cfg.keys.keys()].filter((i) => this.state.action || i !== this.cfg.extra);
    }

    computed() {
      const { query, temperature } = this.state;
      const { shelves } = this;
      const keys = shelves.map((i) => this.cfg.keys[i]);
      const values = shelves.map((i) => this.cfg.values[i]);
      const scores = keys.map((key) => dot(query, key));
      const weights = softmax(scores.map((score) => score / temperature));
      const top = Math.max(...scores);
      const winners = shelves.filter((_, j) => top - scores[j] < NEAR);
      const equal = shelves.find((_, j) => same(keys[j], query));
      return {
        temperature,
        scores,
        weights,
        mix: mix(weights, values),
        winners,
        hard: winners.length === 1 ? this.cfg.values[winners[0]] : null,
        dict: equal === undefined ? null : this.cfg.values[equal],
        equal,
      };
    }

    sentence() {
      const { weights, mix, winners } = this.computed();
      const { films, marks } = this.cfg;
      const names = list(winners.map((i) => films[i]));
      const most = num(Math.max(...weights));
      return (
        `${names} ${winners.length > 1 ? "each have" : "has"} ${most} of the weight; the mix is ` +
        `${list(marks.map((mark, d) => `${mark} ${num(mix[d])}`))}.`
      );
    }

    /** What the present weights teach. */
    claim() {
      const { shelves } = this;
      const { scores, weights, mix, winners, hard } = this.computed();
      const name = (j) => this.cfg.shelves[shelves[j]];
      if (winners.length === shelves.length) {
        return "All scores are equal, so all weights are equal.";
      }
      const rest = "The other weights are close to 0, but above it.";
      if (hard && mix.every((x, d) => Math.abs(x - hard[d]) < 0.005)) {
        return `So cold, soft look-up returns what hard look-up returns, to two decimals. ${rest}`;
      }
      if (!hard && winners.length * Math.max(...weights) > 0.9995) {
        return `So cold, only the tied films count, all with the same weight. ${rest}`;
      }
      const zero = scores.findIndex((score) => Math.abs(score) < NEAR);
      const low = scores.indexOf(Math.min(...scores));
      const facts = [];
      if (zero >= 0) {
        facts.push(
          `A score of 0 is not a weight of 0: the score of ${name(zero)} is 0, ` +
            `its weight is ${share(weights[zero])}.`,
        );
      }
      if (scores[low] < -NEAR) {
        facts.push(
          `A negative score is no negative weight: ${name(low)} scores ` +
            `${short(scores[low])}, its weight is ${share(weights[low])}.`,
        );
      }
      if (facts.length) return facts.join(" ");
      return `The lowest score is that of ${name(low)}; its weight is ${share(weights[low])}.`;
    }

    build() {
      const { cfg } = this;
      const say = () => this.sentence();
      return [
        this.predict(cfg.predict),
        h(
          "div",
          { class: "at-sl-ctl" },
          this.seg(
            "preset",
            "query",
            cfg.queries.map(([name]) => [name, name]),
            say,
          ),
          this.cells(say),
          this.slider({
            key: "notch",
            label: "temperature T",
            min: 0,
            max: cfg.temperatures.length - 1,
            step: 1,
            text: (notch) => short(cfg.temperatures[notch]),
            put: (notch) => ({ temperature: cfg.temperatures[notch] }),
            say,
          }),
          this.check("action", `add the shelf ${cfg.shelves[cfg.extra]}`, say),
        ),
        this.table(),
        h("p", { class: "at-say" }, (this.readout = h("span")), (this.lesson = h("span"))),
        h(
          "p",
          { class: "at-sl-note" },
          "The weights are softmax(scores / T). As T falls towards 0 (cold), the best key takes ",
          "all: hard look-up is the cold limit of soft look-up.",
        ),
        h(
          "p",
          { class: "at-sl-note" },
          h("b", {}, "Where the picture breaks. "),
          "No one picks a film, and nothing is stored: in self-attention, keys and values are ",
          "computed from the sentence itself.",
        ),
        this.foot(),
      ];
    }

    cells(say) {
      const { marks, limit } = this.cfg;
      const wrong = h("p", { class: "at-wrong", id: `${this.id}-wrong` });
      const cell = (mark, d) =>
        h(
          "div",
          { class: "at-sl-cell" },
          h("span", { "aria-hidden": "true" }, mark),
          this.number({
            wrong,
            label: `query, ${mark}`,
            min: -limit,
            max: limit,
            step: 0.5,
            get: () => this.state.query[d],
            put: (value) =>
              this.set({ query: this.state.query.map((x, i) => (i === d ? value : x)) }, say),
          }),
        );
      return h(
        "div",
        { class: "at-sl-query", role: "group", "aria-label": "The query, three numbers" },
        marks.map(cell),
        wrong,
      );
    }

    table() {
      const { cfg } = this;
      const cell = (name) => h("td", { role: "cell", class: name });
      const head = (name, ...text) =>
        h("th", { scope: "col", role: "columnheader", class: name }, text);
      const line = (name, ...cells) => h("tr", { role: "row", class: name }, cells);
      const body = (rows) => h("tbody", { role: "rowgroup" }, rows);
      // Seen where the columns' heads are not.
      const tag = (text) => h("span", { class: "at-sl-tag" }, text);
      const three = (name) => DIMS.map(() => cell(`at-sl-mark ${name}`));

      this.rows = cfg.shelves.map((shelf, i) => {
        const row = {
          score: h("b"),
          pill: h("span", { class: "at-pill" }),
          bar: h("i", { class: "at-weightbar" }),
        };
        const marks = three("at-sl-value");
        marks.forEach((mark, d) => (mark.textContent = plain(cfg.values[i][d])));
        row.line = line(
          "at-sl-shelf",
          h(
            "th",
            { scope: "row", role: "rowheader" },
            shelf,
            h("span", { class: "at-sl-key" }, tag("key "), vector(cfg.keys[i])),
          ),
          h("td", { role: "cell", class: "at-sl-score" }, tag("score "), row.score),
          h(
            "td",
            { role: "cell", class: "at-sl-weight" },
            h("div", {}, tag("weight"), row.pill, h("span", { class: "at-track" }, row.bar)),
          ),
          h("td", { role: "cell", class: "at-sl-film" }, cfg.films[i]),
          marks,
        );
        return row;
      });

      const way = (key, name, label, role) => {
        const part = { answer: cell("at-sl-film"), marks: three(role) };
        this.ways[key] = part;
        return line(
          "at-sl-way",
          h(
            "th",
            { scope: "row", role: "rowheader", colspan: 3 },
            h("b", { class: key === "soft" ? "at-c" : null }, name),
            h("span", { class: "at-sl-how" }, label),
          ),
          part.answer,
          part.marks,
        );
      };
      this.ways = {};
      return h(
        "table",
        { class: "at-sl-table", role: "table" },
        (this.caption = h("caption")),
        h(
          "thead",
          { role: "rowgroup" },
          line(
            null,
            head(null, "shelf, ", h("span", { class: "at-k" }, "key")),
            head("at-sl-score", "score"),
            head("at-sl-weight", "weight"),
            head("at-sl-film", h("span", { class: "at-v" }, "value"), ": film"),
            cfg.marks.map((mark) => head("at-sl-mark", mark)),
          ),
        ),
        body(this.rows.map((row) => row.line)),
        body([
          way("dict", "Python dict", (this.code = h("code")), "at-sl-value"),
          way("hard", "hard look-up", "the best key alone", "at-sl-value"),
          way("soft", "soft look-up", "all keys, by weight", "at-sl-mix"),
        ]),
      );
    }

    answer(part, text, values, decimals) {
      part.answer.textContent = text;
      part.marks.forEach((mark, d) => {
        mark.classList.toggle("at-sl-none", !values);
        if (values) mark.textContent = decimals ? num(values[d], decimals) : plain(values[d]);
        else {
          mark.replaceChildren(
            h("span", { "aria-hidden": "true" }, "\u2013"),
            h("span", { class: "at-vh" }, "none"),
          );
        }
      });
    }

    render() {
      const { cfg, shelves, ways } = this;
      const { query, temperature } = this.state;
      const { scores, weights, mix, winners, hard, dict, equal } = this.computed();
      this.rows.forEach((row, i) => {
        const j = shelves.indexOf(i);
        row.line.hidden = j < 0;
        if (j < 0) return;
        row.score.textContent = short(scores[j]);
        row.pill.textContent = num(weights[j]);
        row.pill.style.setProperty("--t", weights[j].toFixed(3));
        row.bar.style.width = `${(weights[j] * 100).toFixed(1)}%`;
      });
      const films = shelves.map((i) => cfg.films[i]);
      this.caption.textContent =
        `Query ${vector(query)}, temperature ${short(temperature)}: each shelf, and three answers`;
      this.code.textContent = `films[${vector(query)}]`;
      this.answer(ways.dict, dict ? cfg.films[equal] : "KeyError", dict);
      const best = hard
        ? cfg.films[winners[0]]
        : `a tie: ${list(winners.map((i) => cfg.shelves[i]))}`;
      this.answer(ways.hard, best, hard);
      this.answer(ways.soft, "all, mixed", mix, 2);
      this.readout.replaceChildren(
        h("b", { class: "at-c" }, "z"),
        " = ",
        weights.map((weight, j) => `${num(weight, 3)} \u00B7 ${films[j]}`).join(" + "),
        ` = (${mix.map((value) => num(value)).join(", ")}).`,
      );
      this.lesson.textContent = this.claim();
    }
  }

  customElements.define("at-soft-lookup", SoftLookup);
})();
