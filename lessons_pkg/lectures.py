"""The lectures' numbers, and where each was said.

Two recorded lectures are the ground of the course:

* L6: Sreedath Panat, *The attention family*, lecture 6 (times are minutes and seconds);
* TX: Umar Jamil, *Attention is all you need (Transformer)* (no times in the record).

Every chapter takes its vectors from here, so a figure has one home.
"""

from typing import Final

#: L6.2, from 7:30. Two tokens ``it`` that a reader takes to mean two different things.
SENTENCE: Final[tuple[str, ...]] = tuple(
    "the dog chased the ball but it could not catch it".split()
)

#: L6.3, from 10:55. Three words as three numbers each.
THREE_VECTORS: Final[dict[str, tuple[float, float, float]]] = {
    "it": (0.5, 0.5, 0.1),
    "dog": (0.9, 0.1, 0.1),
    "ball": (0.1, 0.9, 0.1),
}

#: L6.10. The six words of the lecture's notebook.
DREAM_TOKENS: Final[tuple[str, ...]] = ("Dream", "big", "and", "work", "for", "it")

#: L6.10. Their vectors, one row a word.
DREAM_VECTORS: Final[tuple[tuple[float, float, float], ...]] = (
    (0.72, 0.45, 0.31),
    (0.75, 0.20, 0.55),
    (0.30, 0.80, 0.40),
    (0.85, 0.35, 0.60),
    (0.55, 0.15, 0.75),
    (0.25, 0.20, 0.85),
)

#: TX4. The second lecture's sentence: six tokens, five distinct words.
CAT_TOKENS: Final[tuple[str, ...]] = tuple("your cat is a lovely cat".split())

#: TX4. The ids that the lecture speaks; *cat* gets the same one twice.
CAT_IDS: Final[dict[str, int]] = {"your": 105, "cat": 6500}

#: TX4. Numbers in an embedding of the base model.
D_MODEL: Final[int] = 512

#: L6.4. The key matrix that stretches the second dimension.
STRETCH: Final[tuple[tuple[float, float, float], ...]] = (
    (1.0, 0.0, 0.0),
    (0.0, 2.0, 0.0),
    (0.0, 0.0, 1.0),
)

#: L6.7. The five words of the calculation by hand.
BALL_TOKENS: Final[tuple[str, ...]] = tuple("the dog chased the ball".split())

#: L6.7. Their vectors. The lecture never speaks the matrices; these give its figures. The third
#: column is a position stamp: without it both ``the`` would be one row.
BALL_VECTORS: Final[tuple[tuple[float, float, float], ...]] = (
    (1.3, 0.8, 0.1),
    (0.5, 0.9, 0.2),
    (1.1, 1.1, 0.3),
    (1.3, 0.8, 0.4),
    (1.5, 1.3, 0.5),
)

#: L6.7. Query, key and value matrices, 3 × 2, for rows: queries are ``x @ BALL_W_Q``.
BALL_W_Q: Final[tuple[tuple[float, float], ...]] = ((0.6, 1.3), (0.9, 1.7), (0.3, 0.6))
BALL_W_K: Final[tuple[tuple[float, float], ...]] = ((0.3, -0.1), (0.4, 0.6), (1.9, -1.5))
BALL_W_V: Final[tuple[tuple[float, float], ...]] = ((0.5, 0.2), (0.1, 0.7), (0.4, 0.3))

#: L6.7. What the lecture speaks for the query *ball*: three scores, then the weights (they add
#: to 0.99, rounded as they are).
BALL_SPOKEN_SCORES: Final[tuple[float, ...]] = (2.89, 2.82, 3.42)
BALL_SPOKEN_WEIGHTS: Final[tuple[float, ...]] = (0.17, 0.16, 0.25, 0.10, 0.31)

#: L6.10. The seed of the lecture's notebook, and the context vector of *big* that it shows.
DREAM_SEED: Final[int] = 123
DREAM_SPOKEN_CONTEXT: Final[tuple[float, float]] = (0.2274, 0.7362)

#: TX9. Films under a genre: romantic and action are the lecture's, the others are ours. The key
#: says what the shelf promises, the value holds three marks of the film (romance, fun, fear).
FILM_TITLES: Final[dict[str, str]] = {
    "romantic": "Titanic",
    "comedy": "Some Like It Hot",
    "horror": "Psycho",
    "action": "The Dark Knight",
}
FILM_KEYS: Final[dict[str, tuple[float, float, float]]] = {
    "romantic": (1.0, 0.0, 0.0),
    "comedy": (0.0, 1.0, 0.0),
    "horror": (0.0, 0.0, 1.0),
    "action": (0.0, -0.6, 0.8),
}
FILM_VALUES: Final[dict[str, tuple[float, float, float]]] = {
    "romantic": (9.0, 2.0, 5.0),
    "comedy": (7.0, 9.0, 1.0),
    "horror": (1.0, 0.0, 9.0),
    "action": (2.0, 1.0, 7.0),
}

#: TX9. The query, so chosen that its scores are 2 for romantic, 1 for comedy and 0 for horror.
LOVE: Final[tuple[float, float, float]] = (2.0, 1.0, 0.0)
