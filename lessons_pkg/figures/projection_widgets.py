"""Widgets of chapter 2: random projections of the reader's own words, and training them.

They need a running kernel. What the first computes is in :func:`project`; the second runs
:func:`lessons_pkg.training.pronouns.train_pronouns`. Neither function knows of widgets.
"""

import html
import math
import warnings
from dataclasses import dataclass
from typing import Any

import ipywidgets
import torch
from torch import Tensor

from lessons_pkg.attention.dot_product import attend
from lessons_pkg.attention.dot_product import scores as score
from lessons_pkg.attention.projections import Projections
from lessons_pkg.figures.widgets import (
    _CELL_STYLE,
    _LARGEST_SEED,
    MOST_WORDS,
    Exploration,
    _about_equal_words,
    _about_query,
    _choices,
    _error,
    _number,
    _weights_table,
)
from lessons_pkg.lectures import SENTENCE
from lessons_pkg.training.pronouns import PronounRun, recorded_run, train_pronouns

__all__ = ["Projected", "project", "projection_explorer", "training_explorer"]

MOST_WIDTH = 64
LEAST_STEPS, MOST_STEPS = 50, 1000
_D_WORD = 8
_FRAMES = 8
_WIDE = {"style": {"description_width": "initial"}}


@dataclass(frozen=True)
class Projected(Exploration):
    """What attention with three random matrices gave for one list of words.

    Attributes:
        scores: Each query's product with each key, divided by √d_k.
        x_shape: Words, and numbers in a word's vector.
        query_shape: Words, and numbers in a query.
        key_shape: Words, and numbers in a key.
        value_shape: Words, and numbers in a value.
        parameters: How many numbers W_Q, W_K and W_V hold together.
    """

    scores: Tensor
    x_shape: tuple[int, int]
    query_shape: tuple[int, int]
    key_shape: tuple[int, int]
    value_shape: tuple[int, int]
    parameters: int


def project(sentence: str, d_k: int, seed: int, positions: bool) -> Projected:
    """Project random word vectors to queries, keys and values, and let every word attend.

    Each distinct word has one vector of 8 random numbers. W_Q, W_K and W_V are random too; they
    and the vectors do not change where words are added at the end. The global random numbers are
    left as they are.

    Args:
        sentence: Words, separated by spaces; 1 to 64 of them.
        d_k: Numbers in a query, a key and a value, 1 to 64.
        seed: Chooses the random numbers.
        positions: Whether each vector has a ninth number, the place of the word in tenths.

    Raises:
        ValueError: The sentence is empty or too long, or the width or the seed is out of range.
    """
    words = tuple(sentence.split())
    if not words:
        raise ValueError("The sentence has no word. Write at least one.")
    if len(words) > MOST_WORDS:
        raise ValueError(f"The sentence has {len(words)} words. At most {MOST_WORDS} fit.")
    if not 1 <= d_k <= MOST_WIDTH:
        raise ValueError(f"The width d_k must be 1 to {MOST_WIDTH}. It is {d_k}.")
    if not 0 <= seed <= _LARGEST_SEED:
        raise ValueError(f"The seed must be 0 to {_LARGEST_SEED}. It is {seed}.")

    generator = torch.Generator(device="cpu").manual_seed(seed)
    d_model = _D_WORD + positions
    w_q, w_k, w_v = (
        _draw(_D_WORD + 1, d_k, generator)[:d_model] / math.sqrt(_D_WORD) for _ in range(3)
    )
    table = {word: _draw(1, _D_WORD, generator)[0] for word in dict.fromkeys(words)}
    x = torch.stack([table[word] for word in words])
    if positions:
        places = torch.arange(len(words), dtype=torch.float32, device="cpu") / 10
        x = torch.cat([x, places[:, None]], dim=1)

    with torch.random.fork_rng(devices=[]), torch.no_grad():  # nn.Linear draws numbers too
        query, key, value = Projections.from_matrices(w_q, w_k, w_v)(x)
    scale = 1 / math.sqrt(d_k)
    context, weights = attend(query, key, value, scale=scale)
    return Projected(
        words=words,
        vectors=x,
        weights=weights,
        context=context,
        scores=score(query, key, scale=scale),
        x_shape=_shape(x),
        query_shape=_shape(query),
        key_shape=_shape(key),
        value_shape=_shape(value),
        parameters=sum(w.numel() for w in (w_q, w_k, w_v)),
    )


def _draw(rows: int, cols: int, generator: torch.Generator) -> Tensor:
    return torch.randn(rows, cols, generator=generator, device="cpu", dtype=torch.float32)


def _shape(matrix: Tensor) -> tuple[int, int]:
    rows, cols = matrix.shape
    return rows, cols


def projection_explorer(
    sentence: str = " ".join(SENTENCE), d_k: int = 2, seed: int = 0
) -> ipywidgets.VBox:
    """Return controls for :func:`project` and, below them, what it gives.

    Args:
        sentence: The words to begin with.
        d_k: Numbers in a query, to begin with.
        seed: The seed to begin with.

    Raises:
        ValueError: The starting values are out of range; see :func:`project`.
    """
    first = project(sentence, d_k, seed, positions=False)
    text = ipywidgets.Text(
        value=sentence,
        description="Sentence",
        continuous_update=False,
        layout=ipywidgets.Layout(width="100%"),
        **_WIDE,
    )
    width = ipywidgets.BoundedIntText(
        value=d_k, min=1, max=MOST_WIDTH, description="Width d_k", **_WIDE
    )
    seeds = ipywidgets.BoundedIntText(
        value=seed, min=0, max=_LARGEST_SEED, description="Seed", **_WIDE
    )
    positions = ipywidgets.Checkbox(value=False, description="add positions", indent=False)
    query = ipywidgets.Dropdown(options=_choices(first.words), description="Query", **_WIDE)
    message = ipywidgets.HTML(value="", description="")
    result = ipywidgets.HTML(value=_projected(first, 0), description="")

    def update(_change: Any) -> None:
        try:
            found = project(text.value, width.value, seeds.value, positions.value)
        except ValueError as fault:
            message.value = _error(fault)
            return
        message.value = ""
        chosen = query.value or 0
        if query.options != _choices(found.words):
            chosen = min(chosen, len(found.words) - 1)
            query.options = _choices(found.words)  # this sets the choice back to the first word
            query.value = chosen
        result.value = _projected(found, chosen)

    for control in (text, width, seeds, positions, query):
        control.observe(update, names="value")
    row = ipywidgets.HBox(
        [width, seeds, positions, query], layout=ipywidgets.Layout(flex_flow="row wrap")
    )
    return ipywidgets.VBox([text, row, message, result])


def _projected(found: Projected, query: int) -> str:
    return "".join(
        [
            _weights_table(found, query),
            _about_query(found, query),
            _about_equal_words(found),
            _about_shapes(found),
        ]
    )


def _about_shapes(found: Projected) -> str:
    d_model, d_k = found.x_shape[1], found.query_shape[1]
    shapes = (
        ("X", found.x_shape),
        ("W_Q, W_K, W_V", (d_model, d_k)),
        ("Q", found.query_shape),
        ("K", found.key_shape),
        ("V", found.value_shape),
        ("scores", _shape(found.scores)),
        ("weights", _shape(found.weights)),
        ("context", _shape(found.context)),
    )
    rows = "".join(
        f'<tr><th scope="row" style="text-align:left;padding-right:12px">{name}</th>'
        f"<td>{rows} × {cols}</td></tr>"
        for name, (rows, cols) in shapes
    )
    return (
        f"<table><caption>Shapes: rows × columns.</caption><tbody>{rows}</tbody></table>"
        f"<p>W_Q, W_K and W_V are random here, not trained. They hold 3 × {d_model} × {d_k} = "
        f"{found.parameters} numbers, however long the sentence is.</p>"
    )


def training_explorer() -> ipywidgets.VBox:
    """Return settings for :func:`~lessons_pkg.training.pronouns.train_pronouns` and a button.

    It begins with the run that the course recorded. The button trains anew, in seconds.
    """
    first = recorded_run()
    start = first.settings
    rate = ipywidgets.FloatText(
        value=start["learning_rate"], step=0.01, description="Learning rate", **_WIDE
    )
    seeds = ipywidgets.BoundedIntText(
        value=start["seed"], min=0, max=_LARGEST_SEED, description="Seed", **_WIDE
    )
    steps = ipywidgets.BoundedIntText(
        value=start["steps"], min=LEAST_STEPS, max=MOST_STEPS, description="Steps", **_WIDE
    )
    positions = ipywidgets.Checkbox(
        value=start["position"], description="with positions", indent=False
    )
    train = ipywidgets.Button(description="Train", button_style="")
    message = ipywidgets.HTML(value="", description="")
    result = ipywidgets.HTML(
        value=f"<p>The run that the course recorded:</p>{_trained(first)}", description=""
    )

    def run(_button: Any) -> None:
        train.disabled = True
        message.value = '<p role="status">Training …</p>'
        try:
            found = _train(rate.value, seeds.value, steps.value, positions.value)
        except ValueError as fault:
            message.value = _error(fault)
        else:
            message.value = _stopped(found)
            result.value = _trained(found)
        finally:
            train.disabled = False

    train.on_click(run)
    row = ipywidgets.HBox(
        [rate, seeds, steps, positions, train], layout=ipywidgets.Layout(flex_flow="row wrap")
    )
    return ipywidgets.VBox([row, message, result])


def _train(learning_rate: float, seed: int, steps: int, positions: bool) -> PronounRun:
    if not 0 < learning_rate < math.inf:  # false for nan too
        raise ValueError(
            f"The learning rate must be positive and finite. It is {_plain(learning_rate)}."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # said in the page instead
        return train_pronouns(
            seed=seed,
            learning_rate=learning_rate,
            steps=steps,
            position=positions,
            every=math.ceil(steps / _FRAMES),
        )


def _plain(number: float) -> str:
    return f"{number:g}".replace("-", "−")


def _stopped(run: PronounRun) -> str:
    if run.stopped is None:
        return ""
    return (
        '<p role="status" style="border:2px dashed var(--at-err,#aa0b03);padding:4px 8px">'
        f"<b>⚠ Stopped.</b> At step {run.stopped} the loss was no number any more. Training "
        f"stopped there and kept the maps of step {run.stopped - 1}. Try a smaller learning rate "
        f"than {_plain(run.settings['learning_rate'])}.</p>"
    )


def _trained(run: PronounRun) -> str:
    return _about_run(run) + _frames_table(run)


def _about_run(run: PronounRun) -> str:
    settings = run.settings
    positions = "with" if settings["position"] else "without"
    kept = settings["steps"] if run.stopped is None else run.stopped - 1
    finals = "; ".join(
        f"the “it” at {pronoun + 1} gives “{html.escape(run.tokens[noun])}” "
        f"{_number(weights[noun])}"
        for pronoun, noun, weights in zip(
            run.pronouns, run.antecedents, run.weights[-1], strict=True
        )
    )
    return (
        f"<p>Learning rate {_plain(settings['learning_rate'])}, seed {settings['seed']}, "
        f"{settings['steps']} steps, {positions} positions. "
        f"Loss: {_number(run.losses[0], 3)} → {_number(run.losses[-1], 3)}. "
        f"Weights after step {run.steps[-1]}: {finals}. "
        f"With the maps of step {kept} the largest weight lies on the right noun for "
        f"{_percent(run.accuracy_train)} of the “it” in the training sentences and for "
        f"{_percent(run.accuracy_held_out)} in those kept apart.</p>"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _frames_table(run: PronounRun) -> str:
    every = max(1, math.ceil((len(run.steps) - 1) / _FRAMES))
    chosen = sorted({*range(0, len(run.steps), every), len(run.steps) - 1})
    heads = "".join(
        f'<th scope="col">it ({pronoun + 1}) on {html.escape(run.tokens[noun])} ({noun + 1})</th>'
        for pronoun, noun in zip(run.pronouns, run.antecedents, strict=True)
    )
    rows = []
    for frame in chosen:
        cells = "".join(
            f'<td style="{_CELL_STYLE.format(t=weights[noun])}">{_number(weights[noun])}</td>'
            for noun, weights in zip(run.antecedents, run.weights[frame], strict=True)
        )
        rows.append(
            f'<tr><th scope="row">{run.steps[frame]}</th>'
            f"<td>{_number(run.losses[frame], 3)}</td>{cells}</tr>"
        )
    sentence = html.escape(" ".join(run.tokens))
    return (
        '<div style="overflow-x:auto" tabindex="0"><table>'
        f"<caption>The loss, and the weight of each “it” on its noun in “{sentence}”.</caption>"
        f'<thead><tr><th scope="col">step</th><th scope="col">loss</th>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
