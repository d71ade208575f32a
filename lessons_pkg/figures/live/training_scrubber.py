"""The training of W_Q, W_K and W_V, step by step: each `it` finds its noun (chapter 2)."""

import math
from typing import Any, ClassVar

from lessons_pkg.figures.live.base import LiveFigure, Predict, row_html, table_html
from lessons_pkg.figures.numbers import fixed
from lessons_pkg.training.pronouns import PronounRun, recorded_run

__all__ = ["TrainingScrubber"]

_DECIMALS = 4  # of the recording; a reader's own run is rounded to as many
_TABLE_STEPS = (0, 10, 50, 100)
_NAMES = ("first it", "second it")


class TrainingScrubber(LiveFigure):
    """A training run through which the reader drags: weights of the two `it`, and the loss.

    Args:
        run: The run; None shows the recorded one. Where it has a control run, the reader may
            switch to that.
        id: The element's id.
        title: The finding, in one line; None writes what the last frame shows.
        sub: One line under the title.
        predict: The question asked first; None asks nothing, "default" the figure's own
            question, where the run has a control whose two rows are equal in every frame.

    Raises:
        TypeError: ``run`` is no :class:`PronounRun`.
        ValueError: The run has fewer than two frames, or its control has other frames, other
            words, or positions like the run itself.
    """

    tag: ClassVar[str] = "at-training-scrubber"

    def __init__(
        self,
        run: PronounRun | None = None,
        *,
        id: str = "fig-training-scrubber",
        title: str | None = None,
        sub: str = "W_Q, W_K and W_V start random and are trained together. "
        "Drag through the training.",
        predict: Predict | str | None = "default",
    ) -> None:
        run = recorded_run() if run is None else run
        _check(run)
        self.run = run
        if isinstance(predict, str):
            predict = self._question()
        super().__init__(id=id, title=title or self._finding(), sub=sub, predict=predict)

    def _finding(self) -> str:
        found = all(
            max(row) == row[place]
            for row, place in zip(self.run.weights[-1], self.run.antecedents, strict=True)
        )
        end = "each “it” looks" if found else "the two “it” do not both look"
        return f"After {self.run.steps[-1]} steps {end} at its own noun"

    def _question(self) -> Predict | None:
        control = self.run.control
        if control is None or any(frame[0] != frame[1] for frame in control.weights):
            return None
        return Predict(
            ask=(
                "Without a position column, how many steps does training need to part the two “it”?"
            ),
            options=("about 100", "about 10,000", "no number is enough"),
            answer=2,
            why=(
                "Without positions the two “it” have equal vectors, so every W_Q gives them equal "
                "queries: their rows are equal at every step. Two nouns share one row, at best "
                "half and half. So the loss cannot fall below ln 2 = "
                f"{fixed(math.log(2), 3)}; after {control.steps[-1]} steps it is "
                f"{fixed(control.losses[-1])}."
            ),
            show={"positions": False, "frame": len(control.steps) - 1},
        )

    def config(self) -> dict[str, Any]:
        """Give the words, the steps, and losses and weights of the one or two runs."""
        run = self.run
        return {
            "tokens": list(run.tokens),
            "pronouns": list(run.pronouns),
            "nouns": list(run.antecedents),
            "steps": list(run.steps),
            "positions": run.settings["position"],
            "run": _frames(run),
            "control": run.control and _frames(run.control),
        }

    def fallback(self) -> str:
        """Give some steps of each run, and the rows of weights at its end."""
        runs = [self.run] if self.run.control is None else [self.run, self.run.control]
        return "\n".join(table for run in runs for table in _tables(run))


def _check(run: PronounRun) -> None:
    if not isinstance(run, PronounRun):
        raise TypeError(f"run must be a PronounRun; got {type(run).__name__}.")
    if len(run.steps) < 2:
        raise ValueError(f"run must have two or more frames; got {len(run.steps)}.")
    other = run.control
    if other is None:
        return
    if other.steps != run.steps or other.tokens != run.tokens:
        raise ValueError("run.control must have the steps and the words of the run.")
    if other.settings["position"] == run.settings["position"]:
        raise ValueError("run and run.control must differ in their positions.")


def _frames(run: PronounRun) -> dict[str, Any]:
    return {
        "losses": _rounded(run.losses),
        "values": _rounded(run.value_losses),
        "weights": _rounded(run.weights),
    }


def _rounded(numbers: Any) -> Any:
    """Round as the recording does; its decimals read the same on every machine."""
    if isinstance(numbers, float):
        return round(numbers, _DECIMALS)
    return [_rounded(each) for each in numbers]


def _weight(value: float) -> str:
    """Write two decimals; three where the record stops right at a tie."""
    value = round(value, _DECIMALS)
    return fixed(value, 3 if round(value * 10**_DECIMALS) % 100 == 50 else 2)


def _tables(run: PronounRun) -> list[str]:
    nouns = [run.tokens[place] for place in run.antecedents]
    where = "with positions" if run.settings["position"] else "without positions"
    last = len(run.steps) - 1
    steps = [
        row_html(
            str(step),
            [
                fixed(round(run.losses[i], _DECIMALS)),
                *(_weight(run.weights[i][k][place]) for k, place in enumerate(run.antecedents)),
            ],
        )
        for i, step in enumerate(run.steps)
        if step in _TABLE_STEPS or i == last
    ]
    ends = [
        row_html(word, [_weight(row[i]) for row in run.weights[-1]])
        for i, word in enumerate(run.tokens)
    ]
    return [
        table_html(
            "at-ts-first",
            f"Training {where}: the loss, and the weight of each “it” on its noun",
            ["step", "loss", *(f"{a} on {b}" for a, b in zip(_NAMES, nouns, strict=True))],
            steps,
        ),
        table_html(
            "at-ts-first",
            f"Training {where}: weights after step {run.steps[-1]}, a column for each “it”",
            ["word", *_NAMES],
            ends,
        ),
    ]
