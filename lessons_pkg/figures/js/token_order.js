/** <at-token-order>: words change places; each keeps its weights and its context vector. */
(() => {
  "use strict";
  if (customElements.get("at-token-order")) return;
  const { AtFigure, h, num, dot, softmax, mix } = window.courseFigures;

  class TokenOrder extends AtFigure {
    static shared = ["order"];

    initial(cfg) {
      return { order: cfg.tokens.map((_, i) => i), at: null };
    }

    valid(key, value) {
      return (
        Array.isArray(value) &&
        value.length === this.cfg.tokens.length &&
        this.start.order.every((i) => value.includes(i))
      );
    }

    attend(order) {
      const x = order.map((i) => this.cfg.x[i]);
      const scores = x.map((query) => x.map((key) => dot(query, key) / Math.sqrt(key.length)));
      const weights = scores.map(softmax);
      return { scores, weights, context: weights.map((row) => mix(row, x)) };
    }

    computed() {
      const { order } = this.state;
      const now = this.attend(order);
      const first = this.attend(this.start.order);
      const mean = mix(
        order.map(() => 1 / order.length),
        now.context,
      );
      const change = Math.max(
        ...order.flatMap((word, place) =>
          now.context[place].map((value, d) => Math.abs(value - first.context[word][d])),
        ),
      );
      return { order: order.slice(), ...now, mean, change };
    }

    rearrange(order) {
      this.set({ order, at: null }, () => {
        const words = order.map((i) => this.cfg.tokens[i]).join(" ");
        return `${words}. Largest change in a context vector: ${num(this.computed().change)}.`;
      });
    }

    /** Swap a word with its neighbour; the focus goes with the word. */
    move(place, by) {
      const target = place + by;
      const order = this.state.order.slice();
      if (target < 0 || target >= order.length) return;
      [order[place], order[target]] = [order[target], order[place]];
      this.rearrange(order);
      this.places[target][by < 0 ? "left" : "right"].focus();
    }

    swapEnds() {
      const order = this.state.order.slice();
      const last = order.length - 1;
      [order[0], order[last]] = [order[last], order[0]];
      this.rearrange(order);
    }

    shuffle() {
      const { shuffles } = this.cfg;
      const now = JSON.stringify(this.state.order);
      const known = shuffles.findIndex((order) => JSON.stringify(order) === now);
      this.rearrange(shuffles[(known + 1) % shuffles.length].slice());
    }

    build() {
      const size = this.cfg.tokens.length;
      const { decimals } = this.cfg;
      const sums = [-1, 1].map((sign) => num(1 + sign * 10 ** -decimals, decimals)).join(" or ");
      this.places = this.cfg.tokens.map((_, place) => ({
        word: h("span", { class: "at-word" }),
        left: this.button("\u2190", () => this.move(place, -1)),
        right: this.button("\u2192", () => this.move(place, 1)),
      }));
      const items = this.places.map(({ word, left, right }) =>
        h("li", {}, word, h("span", { class: "at-moves" }, left, right)),
      );
      this.grid = this.heat(size, "Attention weights: rows are queries, columns are keys.");
      return [
        this.predict(this.cfg.predict),
        h("ol", { class: "at-tokens", "aria-label": "The words in order" }, items),
        h(
          "div",
          { class: "at-ctl" },
          this.button("Shuffle", () => this.shuffle()),
          this.button("Swap first and last", () => this.swapEnds()),
          this.button("Reverse", () => this.rearrange(this.state.order.slice().reverse())),
        ),
        h(
          "div",
          { class: "at-maps" },
          h("div", { class: "at-scroll" }, this.grid.table),
          this.contextTable(),
        ),
        h(
          "p",
          { class: "at-legend" },
          h("span", {}, "0", h("span", { class: "at-bar" }), "1  weight; each row sums to 1"),
          h("span", {}, `As printed, rounded, a row may add to ${sums}.`),
        ),
        h("p", { class: "at-say" }, (this.readout = h("span"))),
        this.foot(),
      ];
    }

    contextTable() {
      const width = this.cfg.x[0].length;
      const dims = [...Array(width).keys()];
      const line = () => {
        const name = h("span");
        const cells = dims.map(() => h("td"));
        return { name, cells, row: h("tr", {}, h("th", { scope: "row" }, name), cells) };
      };
      this.lines = this.cfg.tokens.map(line);
      this.mean = line();
      this.mean.name.textContent = "mean";
      this.mean.row.setAttribute("class", "at-mean");
      return h(
        "table",
        { class: "at-vectors" },
        h("caption", {}, "Context vector of each word, and their mean"),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col" }, "context Z"),
            dims.map((d) => h("th", { scope: "col" }, `dim ${d + 1}`)),
          ),
        ),
        h(
          "tbody",
          {},
          this.lines.map((each) => each.row),
          this.mean.row,
        ),
      );
    }

    render() {
      const { order, at } = this.state;
      const { decimals } = this.cfg;
      const names = order.map((i) => this.cfg.tokens[i]);
      const { weights, scores, context, mean, change } = this.computed();
      this.places.forEach(({ word, left, right }, place) => {
        word.textContent = names[place];
        left.setAttribute("aria-label", `Move ${names[place]} left`);
        right.setAttribute("aria-label", `Move ${names[place]} right`);
        left.setAttribute("aria-disabled", String(place === 0));
        right.setAttribute("aria-disabled", String(place === names.length - 1));
      });
      this.grid.fill(names, weights, decimals);
      this.lines.forEach(({ name, cells, row }, place) => {
        name.textContent = names[place];
        cells.forEach((cell, d) => (cell.textContent = num(context[place][d])));
        row.classList.toggle("at-on", !!at && at[0] === place);
      });
      this.mean.cells.forEach((cell, d) => (cell.textContent = num(mean[d])));
      const moved = order.some((word, place) => word !== place);
      const lead = moved ? "Position moved; each" : "No word has moved; each";
      const line = `${lead} word\u2019s vector is unchanged: largest change ${num(change)}. `;
      const hint = "Point at, tap or tab into a cell to read it.";
      this.readout.replaceChildren(
        line,
        ...(at
          ? [
              "Query ",
              h("b", { class: "at-q" }, names[at[0]]),
              " \u2192 key ",
              h("b", { class: "at-k" }, names[at[1]]),
              `: score ${num(scores[at[0]][at[1]], decimals)}, weight `,
              h("b", {}, num(weights[at[0]][at[1]], decimals)),
              ".",
            ]
          : [hint]),
      );
    }
  }

  customElements.define("at-token-order", TokenOrder);
})();
