"""Sentences in which `it` stands for a noun: a task small enough to train in seconds (chapter 2).

Each sentence has the pattern of the lectures' own: "the dog chased the ball but it could not
catch it". The first `it` stands for the first noun, the second `it` for the second.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["PronounTask", "pronoun_task"]

#: What each column of a token's vector says. The last one is where the token stands, in tenths.
FEATURES = ("living", "thing", "size", "round", "verb", "pronoun", "function word", "position")
#: The first columns, which tell one noun from another.
NOUN_FEATURES = 4

#: living, thing, size, round
_LIVING = {
    "dog": (1.0, 0.0, 0.5, 0.1),
    "cat": (1.0, 0.0, 0.4, 0.2),
    "bird": (1.0, 0.0, 0.2, 0.3),
    "horse": (1.0, 0.0, 0.9, 0.0),
    "mouse": (1.0, 0.0, 0.1, 0.4),
}
_THINGS = {
    "ball": (0.0, 1.0, 0.3, 1.0),
    "stick": (0.0, 1.0, 0.3, 0.0),
    "leaf": (0.0, 1.0, 0.1, 0.2),
    "wheel": (0.0, 1.0, 0.6, 0.9),
    "kite": (0.0, 1.0, 0.7, 0.1),
}
_VERBS = (("chased", "catch"), ("saw", "reach"), ("followed", "touch"))
_PATTERN = "the {} {} the {} but it could not {} it"
_PRONOUNS, _ANTECEDENTS = (6, 10), (1, 4)
_EVERY_FIFTH = 5


@dataclass(frozen=True)
class PronounTask:
    """Sentences with two `it` each, their vectors, and the noun that each `it` stands for.

    Args:
        tokens: The words of each sentence.
        x: Their vectors, ``(sentences, tokens, d_model)``; the last column is the position.
        pronouns: Where the two `it` stand, ``(sentences, 2)``.
        antecedents: Where the noun stands that each of them means, ``(sentences, 2)``.

    Raises:
        dataclasses.FrozenInstanceError: A field is assigned to.

    Source:
        Lecture [L6.11]. Chapter 2.
    """

    tokens: tuple[tuple[str, ...], ...]
    x: Tensor
    pronouns: Tensor
    antecedents: Tensor


def pronoun_task(split: str = "train", position: bool = True) -> PronounTask:
    """Give the sentences to train on, or those kept apart.

    The first noun is an animal, the second another animal or a thing. Some pairs are kept apart,
    among them the lectures' own, dog and ball: training never sees that sentence. Each noun of a
    pair kept apart occurs in other pairs.

    Args:
        split: ``"train"`` or ``"held_out"``.
        position: Whether the last column says where the token stands; False fills it with 0, so
            that the two `it` of a sentence have the same vector.

    Returns:
        The task, on the CPU, with vectors of 32-bit floats.

    Raises:
        TypeError: ``position`` is not True or False.
        ValueError: There is no such split.

    Source:
        Lecture [L6.11]. Chapter 2.
    """
    if split not in ("train", "held_out"):
        raise ValueError(f"split must be 'train' or 'held_out'; got {split!r}.")
    if not isinstance(position, bool):
        raise TypeError(f"position must be True or False; got {position!r}.")
    tokens = tuple(_sentences(held_out=split == "held_out"))
    rows = [
        [[*_features(word), index / 10 if position else 0.0] for index, word in enumerate(sentence)]
        for sentence in tokens
    ]
    x = torch.tensor(rows, dtype=torch.float32, device="cpu")
    pronouns = torch.tensor([_PRONOUNS] * len(tokens), device="cpu")
    antecedents = torch.tensor([_ANTECEDENTS] * len(tokens), device="cpu")
    return PronounTask(tokens, x, pronouns, antecedents)


def _sentences(held_out: bool) -> list[tuple[str, ...]]:
    found = []
    for i, first in enumerate(_LIVING):
        for j, second in enumerate((*_THINGS, *_LIVING)):
            if first == second or ((i + j) % _EVERY_FIFTH == 0) != held_out:
                continue
            past, infinitive = _VERBS[(i + 2 * j) % len(_VERBS)]
            found.append(tuple(_PATTERN.format(first, past, second, infinitive).split()))
    return found


def _features(word: str) -> tuple[float, ...]:
    noun = _LIVING.get(word) or _THINGS.get(word)
    if noun is not None:
        return (*noun, 0.0, 0.0, 0.0)
    verb = any(word in pair for pair in _VERBS)
    pronoun = word == "it"
    kind = (float(verb), float(pronoun), float(not verb and not pronoun))
    return (*(0.0,) * NOUN_FEATURES, *kind)
