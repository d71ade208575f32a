"""A widget that shows what becomes of a sentence: tokens, ids, rows of an embedding table.

It needs a running kernel. What it computes is in :func:`look_up`, which knows nothing of widgets.
"""

import html
from dataclasses import dataclass
from typing import Any

import ipywidgets
import torch
from torch import Tensor

from lessons_pkg.corpus.vocabulary import Vocabulary
from lessons_pkg.lectures import CAT_TOKENS

__all__ = ["LookUp", "embedding_explorer", "look_up"]

MOST_TOKENS = 64
_WIDTH = 4


@dataclass(frozen=True)
class LookUp:
    """What became of one sentence."""

    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    unknown: tuple[str, ...]
    rows: Tensor


def look_up(sentence: str, vocabulary: Vocabulary, table: Tensor) -> LookUp:
    """Turn a sentence into tokens, ids and one row of the table for each token.

    Args:
        sentence: Any text of 1 to 64 tokens.
        vocabulary: Which word has which id.
        table: One row for each entry of the vocabulary.

    Raises:
        ValueError: The sentence has no token or too many, or the table has another number of rows.
    """
    if table.ndim != 2 or len(table) != len(vocabulary):
        raise ValueError(
            f"The table must have one row for each of the {len(vocabulary)} entries. "
            f"Its shape is {tuple(table.shape)}."
        )
    encoded = vocabulary.encode(sentence)
    if not encoded.tokens:
        raise ValueError("The sentence has no word. Write at least one.")
    if len(encoded.tokens) > MOST_TOKENS:
        raise ValueError(
            f"The sentence has {len(encoded.tokens)} tokens. At most {MOST_TOKENS} fit."
        )
    ids = tuple(encoded.ids)
    rows = table[torch.tensor(ids, device=table.device)]
    return LookUp(tuple(encoded.tokens), ids, tuple(encoded.unknown), rows)


def embedding_explorer(sentence: str = " ".join(CAT_TOKENS), seed: int = 0) -> ipywidgets.VBox:
    """Return a field for a sentence and, below it, its tokens, ids and rows.

    The vocabulary is built from the sentence given here; words typed later may be unknown to it,
    until the box "learn new words" is ticked.

    Args:
        sentence: The words to begin with, and the vocabulary to begin with.
        seed: Chooses the random numbers of the table.

    Raises:
        ValueError: The sentence has no token or too many.
    """
    text = ipywidgets.Text(
        value=sentence,
        description="Sentence",
        continuous_update=False,
        layout=ipywidgets.Layout(width="100%"),
        style={"description_width": "initial"},
    )
    grow = ipywidgets.Checkbox(value=False, description="learn new words", indent=False)
    message = ipywidgets.HTML(value="", description="")
    result = ipywidgets.HTML(value=_shown(sentence, sentence, seed), description="")

    def update(_change: Any) -> None:
        known = f"{sentence} {text.value}" if grow.value else sentence
        try:
            result.value = _shown(text.value, known, seed)
        except ValueError as fault:
            message.value = (
                '<p role="status" style="border:2px dashed var(--at-err,#aa0b03);padding:4px 8px">'
                f"<b>⚠ Error.</b> {html.escape(str(fault))} The last good result stays below.</p>"
            )
            return
        message.value = ""

    text.observe(update, names="value")
    grow.observe(update, names="value")
    return ipywidgets.VBox([text, grow, message, result])


def _shown(sentence: str, known: str, seed: int) -> str:
    vocabulary = Vocabulary.build([known])
    generator = torch.Generator().manual_seed(seed)
    table = torch.rand(len(vocabulary), _WIDTH, generator=generator)
    found = look_up(sentence, vocabulary, table)
    rows = []
    for token, number, row in zip(found.tokens, found.ids, found.rows.tolist(), strict=True):
        cells = "".join(f"<td>{value:.2f}</td>" for value in row)
        rows.append(f'<tr><th scope="row">{html.escape(token)}</th><td>{number}</td>{cells}</tr>')
    heads = "".join(f'<th scope="col">{i + 1}</th>' for i in range(_WIDTH))
    listed = ", ".join(f"“{html.escape(word)}”" for word in dict.fromkeys(found.unknown))
    note = f"Unknown, all with one id and one row: {listed}." if listed else "Every word is known."
    return (
        '<div style="overflow-x:auto" tabindex="0"><table>'
        f"<caption>{len(found.tokens)} tokens, {len(set(found.ids))} different ids.</caption>"
        f'<thead><tr><th scope="col">token</th><th scope="col">id</th>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div><p>{note}</p>"
    )
