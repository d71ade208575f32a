"""Widgets that run the package's attention on the reader's own words and numbers.

They need a running kernel. What they compute is in :func:`explore` and :func:`parse_vectors`,
which know nothing of widgets.
"""

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ipywidgets
import torch
from torch import Tensor

from lessons_pkg.attention.dot_product import attend

__all__ = ["Exploration", "attention_explorer", "explore", "parse_vectors", "vectors_explorer"]

MOST_WORDS = 64
MOST_WIDTH = 512
_MOST_NUMBERS = 8
_LARGEST_SEED = 2**31 - 1

_CELL_STYLE = (
    "--t:{t:.3f};padding:4px 6px;text-align:center;font-variant-numeric:tabular-nums;"
    "background:color-mix(in oklab,color-mix(in oklab,"
    "var(--at-wm,#7398cc) calc(clamp(0,var(--t)*2,1)*100%),var(--at-w0,#f6f8fb)),"
    "var(--at-w1,#0b2450) calc(clamp(0,var(--t)*2 - 1,1)*100%));"
    "color:color-mix(in srgb,var(--at-hi,#fff) "
    "calc(clamp(0,(var(--t) - var(--at-wx,.636))*1000,1)*100%),var(--at-lo,#000))"
)


@dataclass(frozen=True)
class Exploration:
    """What attention gave for one list of words."""

    words: tuple[str, ...]
    vectors: Tensor
    weights: Tensor
    context: Tensor

    def equal_words(self) -> dict[str, list[int]]:
        """Return the words that occur more than once, with their places."""
        places: dict[str, list[int]] = {}
        for place, word in enumerate(self.words):
            places.setdefault(word, []).append(place)
        return {word: found for word, found in places.items() if len(found) > 1}

    def equal_words_have_equal_context(self) -> bool:
        """Whether every two places with the same word got the same context vector."""
        return all(
            torch.allclose(self.context[found[0]], self.context[place])
            for found in self.equal_words().values()
            for place in found[1:]
        )


def explore(sentence: str, width: int, seed: int, scaled: bool) -> Exploration:
    """Draw one random vector for each distinct word and let every word attend to all.

    Args:
        sentence: Words, separated by spaces; 1 to 64 of them.
        width: Numbers in a vector, 1 to 512.
        seed: Chooses the random vectors.
        scaled: Whether the scores are divided by √d.

    Raises:
        ValueError: The sentence is empty or too long, or the width or the seed is out of range.
    """
    words = tuple(sentence.split())
    if not words:
        raise ValueError("The sentence has no word. Write at least one.")
    if len(words) > MOST_WORDS:
        raise ValueError(f"The sentence has {len(words)} words. At most {MOST_WORDS} fit.")
    if not 1 <= width <= MOST_WIDTH:
        raise ValueError(f"The width d must be 1 to {MOST_WIDTH}. It is {width}.")
    if not 0 <= seed <= _LARGEST_SEED:
        raise ValueError(f"The seed must be 0 to {_LARGEST_SEED}. It is {seed}.")
    generator = torch.Generator().manual_seed(seed)
    table = {word: torch.randn(width, generator=generator) for word in dict.fromkeys(words)}
    vectors = torch.stack([table[word] for word in words])
    return _attend(words, vectors, 1 / math.sqrt(width) if scaled else 1.0)


def _attend(words: tuple[str, ...], vectors: Tensor, scale: float) -> Exploration:
    context, weights = attend(vectors, vectors, vectors, scale=scale)
    if not bool(torch.isfinite(weights).all() and torch.isfinite(context).all()):
        raise ValueError("The numbers are too large: their products overflow. Write smaller ones.")
    return Exploration(words, vectors, weights, context)


def parse_vectors(text: str) -> dict[str, tuple[float, ...]]:
    """Read vectors written one a line, as in ``it: 0.5 0.5 0.1``.

    Empty lines are skipped; commas may stand between the numbers.

    Args:
        text: Any number of lines; every line has the same count of numbers.

    Returns:
        The vector of each word, in the order of the lines.

    Raises:
        ValueError: One sentence for each malformed line, with its number; or there is no line.
    """
    vectors: dict[str, tuple[float, ...]] = {}
    faults: list[str] = []
    width = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            word, vector = _parse_line(line)
            if word in vectors:
                raise ValueError(f"the word “{word}” is there already.")
            if width and len(vector) != width:
                raise ValueError(f"{len(vector)} numbers, but the first vector has {width}.")
        except ValueError as fault:
            faults.append(f"Line {number}: {fault}")
            continue
        width = len(vector)
        vectors[word] = vector
    if faults:
        raise ValueError("\n".join(faults))
    if not vectors:
        raise ValueError("There is no vector. Write one a line, as in “it: 0.5 0.5 0.1”.")
    return vectors


def _parse_line(line: str) -> tuple[str, tuple[float, ...]]:
    word, colon, rest = line.rpartition(":")
    word = word.strip()
    if not colon:
        raise ValueError("no colon. Write “word: numbers”.")
    if not word:
        raise ValueError("no word before the colon.")
    fields = rest.replace(",", " ").replace("−", "-").split()
    if not fields:
        raise ValueError("no number after the colon.")
    return word, tuple(_parse_number(field) for field in fields)


def _parse_number(field: str) -> float:
    try:
        number = float(field)
    except ValueError:
        raise ValueError(f"“{field}” is not a number.") from None
    if not math.isfinite(number):
        raise ValueError(f"“{field}” is not a finite number.")
    return number


def attention_explorer(
    sentence: str = "the dog chased the ball but it could not catch it",
    width: int = 3,
    seed: int = 0,
) -> ipywidgets.VBox:
    """Return controls for :func:`explore` and, below them, the weights it gives.

    Args:
        sentence: The words to begin with.
        width: Numbers in a vector, to begin with.
        seed: The seed to begin with.

    Raises:
        ValueError: The starting values are out of range; see :func:`explore`.
    """
    first = explore(sentence, width, seed, scaled=False)
    wide = {"style": {"description_width": "initial"}}
    text = ipywidgets.Text(
        value=sentence,
        description="Sentence",
        continuous_update=False,
        layout=ipywidgets.Layout(width="100%"),
        **wide,
    )
    numbers = ipywidgets.BoundedIntText(
        value=width, min=1, max=MOST_WIDTH, description="Width d", **wide
    )
    seeds = ipywidgets.BoundedIntText(
        value=seed, min=0, max=_LARGEST_SEED, description="Seed", **wide
    )
    scaled = ipywidgets.Checkbox(value=False, description="divide by √d", indent=False)
    query = ipywidgets.Dropdown(options=_choices(first.words), description="Query", **wide)
    message = ipywidgets.HTML(value="", description="")
    result = ipywidgets.HTML(value=_explored(first, 0), description="")

    def update(_change: Any) -> None:
        try:
            found = explore(text.value, numbers.value, seeds.value, scaled.value)
        except ValueError as fault:
            message.value = _error(fault)
            return
        message.value = ""
        chosen = query.value or 0
        if query.options != _choices(found.words):
            chosen = min(chosen, len(found.words) - 1)
            query.options = _choices(found.words)  # this sets the choice back to the first word
            query.value = chosen
        result.value = _explored(found, chosen)

    for control in (text, numbers, seeds, scaled, query):
        control.observe(update, names="value")
    row = ipywidgets.HBox(
        [numbers, seeds, scaled, query], layout=ipywidgets.Layout(flex_flow="row wrap")
    )
    return ipywidgets.VBox([text, row, message, result])


def vectors_explorer(vectors: Mapping[str, Sequence[float]]) -> ipywidgets.VBox:
    """Return a field for the reader's own vectors and, below it, what attention makes of them.

    Args:
        vectors: The vectors to begin with, one for each word.

    Raises:
        ValueError: The starting vectors do not fit together; see :func:`parse_vectors`.
    """
    start = "\n".join(
        f"{word}: {' '.join(f'{float(number):g}' for number in vector)}"
        for word, vector in vectors.items()
    )
    area = ipywidgets.Textarea(
        value=start,
        description="Vectors",
        continuous_update=False,
        rows=max(4, len(vectors) + 1),
        layout=ipywidgets.Layout(width="100%"),
    )
    message = ipywidgets.HTML(value="", description="")
    result = ipywidgets.HTML(value=_mixed(start), description="")

    def update(_change: Any) -> None:
        try:
            result.value = _mixed(area.value)
        except ValueError as fault:
            message.value = _error(fault)
            return
        message.value = ""

    area.observe(update, names="value")
    return ipywidgets.VBox([area, message, result])


def _choices(words: Sequence[str]) -> tuple[tuple[str, int], ...]:
    return tuple((f"{place + 1}. {word}", place) for place, word in enumerate(words))


def _explored(found: Exploration, query: int) -> str:
    return "".join(
        [_weights_table(found, query), _about_query(found, query), _about_equal_words(found)]
    )


def _mixed(text: str) -> str:
    vectors = parse_vectors(text)
    rows = torch.tensor(list(vectors.values()), dtype=torch.float64)
    found = _attend(tuple(vectors), rows, 1.0)
    if len(found.words) > MOST_WORDS:
        table = f"<p>{len(found.words)} words: too many for a table of weights.</p>"
    else:
        table = _weights_table(found, None)
    return table + _context_table(found)


def _number(value: float, decimals: int = 2) -> str:
    """Write a number of the reader's; unlike lesson text it may lie near a rounding tie."""
    text = f"{value:.{decimals}f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return text.replace("-", "−")


def _weights_table(found: Exploration, query: int | None) -> str:
    """The whole matrix of weights; the row of the chosen query is marked."""
    heads = "".join(f'<th scope="col">{html.escape(word)}</th>' for word in found.words)
    rows = []
    for place, (word, weights) in enumerate(zip(found.words, found.weights.tolist(), strict=True)):
        name = html.escape(word)
        mark = ""
        if place == query:
            name = f"▸ {name}"
            mark = ' style="outline:2px solid var(--at-ink,#222832)"'
        cells = "".join(
            f'<td style="{_CELL_STYLE.format(t=weight)}">{_number(weight)}</td>'
            for weight in weights
        )
        rows.append(f'<tr{mark}><th scope="row">{name}</th>{cells}</tr>')
    return (
        '<div style="overflow-x:auto" tabindex="0"><table>'
        "<caption>Attention weights: rows are queries, columns are keys.</caption>"
        f'<thead><tr><th scope="col">query</th>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _about_query(found: Exploration, query: int) -> str:
    row = found.weights[query]
    best = int(row.argmax())
    return (
        f"<p>“{html.escape(found.words[query])}” (word {query + 1}) looks most at "
        f"“{html.escape(found.words[best])}” (word {best + 1}): {_number(float(row[best]))}. "
        f"Its row sums to {_number(float(row.sum()), 4)}. "
        f"Its context vector: {_vector(found.context[query])}.</p>"
    )


def _about_equal_words(found: Exploration) -> str:
    equal = found.equal_words()
    if not equal:
        return "<p>No word occurs twice.</p>"
    listed = "; ".join(
        f"“{html.escape(word)}” at {', '.join(str(place + 1) for place in places)}"
        for word, places in equal.items()
    )
    answer = "yes" if found.equal_words_have_equal_context() else "no"
    return f"<p>Words that occur twice or more: {listed}. Equal words, equal context: {answer}.</p>"


def _context_table(found: Exploration) -> str:
    rows = "".join(
        f'<tr><th scope="row">{html.escape(word)}</th><td>{_vector(context)}</td></tr>'
        for word, context in zip(found.words, found.context, strict=True)
    )
    return (
        "<table><caption>Context vectors: each a weighted sum of all the vectors.</caption>"
        '<thead><tr><th scope="col">word</th><th scope="col">context</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _vector(vector: Tensor) -> str:
    numbers = [_number(number) for number in vector[:_MOST_NUMBERS].tolist()]
    rest = f" … ({len(vector)} numbers)" if len(vector) > _MOST_NUMBERS else ""
    return f"({', '.join(numbers)}{rest})"


def _error(fault: ValueError) -> str:
    lines = "<br>".join(html.escape(line) for line in str(fault).split("\n"))
    return (
        '<p role="status" style="border:2px dashed var(--at-err,#aa0b03);padding:4px 8px">'
        f"<b>⚠ Error.</b> {lines} The last good result stays below.</p>"
    )
