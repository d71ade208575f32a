"""The lectures' numbers as literals, and the map from lecture to section to test."""

import ast
import tomllib
from pathlib import Path

import pytest

from lessons_pkg import lectures

ROOT = Path(__file__).resolve().parents[1]
CONCEPTS = tomllib.loads((ROOT / "book/lecture_map.toml").read_text(encoding="utf-8"))["concept"]


def test_the_sentence_has_eleven_words_and_it_stands_seventh_and_last():
    assert " ".join(lectures.SENTENCE) == "the dog chased the ball but it could not catch it"
    assert len(lectures.SENTENCE) == 11
    assert [i for i, word in enumerate(lectures.SENTENCE) if word == "it"] == [6, 10]


def test_the_three_vectors_are_those_of_the_lecture():
    assert lectures.THREE_VECTORS == {
        "it": (0.5, 0.5, 0.1),
        "dog": (0.9, 0.1, 0.1),
        "ball": (0.1, 0.9, 0.1),
    }


def test_the_dream_words_have_the_vectors_of_the_lecture():
    assert lectures.DREAM_TOKENS == ("Dream", "big", "and", "work", "for", "it")
    assert lectures.DREAM_VECTORS == (
        (0.72, 0.45, 0.31),
        (0.75, 0.20, 0.55),
        (0.30, 0.80, 0.40),
        (0.85, 0.35, 0.60),
        (0.55, 0.15, 0.75),
        (0.25, 0.20, 0.85),
    )


def test_the_second_lectures_sentence_has_its_ids_and_its_width():
    assert lectures.CAT_TOKENS == ("your", "cat", "is", "a", "lovely", "cat")
    assert lectures.CAT_IDS == {"your": 105, "cat": 6500}
    assert lectures.D_MODEL == 512


def test_the_numbers_of_the_second_chapter_are_those_of_the_lecture():
    assert lectures.STRETCH == ((1, 0, 0), (0, 2, 0), (0, 0, 1))
    assert lectures.BALL_TOKENS == ("the", "dog", "chased", "the", "ball")
    assert lectures.BALL_VECTORS == (
        (1.3, 0.8, 0.1),
        (0.5, 0.9, 0.2),
        (1.1, 1.1, 0.3),
        (1.3, 0.8, 0.4),
        (1.5, 1.3, 0.5),
    )
    assert lectures.BALL_W_Q == ((0.6, 1.3), (0.9, 1.7), (0.3, 0.6))
    assert lectures.BALL_W_K == ((0.3, -0.1), (0.4, 0.6), (1.9, -1.5))
    assert lectures.BALL_W_V == ((0.5, 0.2), (0.1, 0.7), (0.4, 0.3))
    assert lectures.BALL_SPOKEN_SCORES == (2.89, 2.82, 3.42)
    assert lectures.BALL_SPOKEN_WEIGHTS == (0.17, 0.16, 0.25, 0.10, 0.31)
    assert (lectures.DREAM_SEED, lectures.DREAM_SPOKEN_CONTEXT) == (123, (0.2274, 0.7362))


def test_love_scores_the_films_two_one_and_nothing():
    scores = {
        genre: sum(a * b for a, b in zip(lectures.LOVE, key, strict=True))
        for genre, key in lectures.FILM_KEYS.items()
    }
    assert scores == {"romantic": 2, "comedy": 1, "horror": 0, "action": -0.6}
    assert set(lectures.FILM_TITLES) == set(lectures.FILM_VALUES) == set(scores)


def test_no_lecture_number_can_be_changed_in_place():
    assert isinstance(lectures.SENTENCE, tuple)
    assert all(isinstance(vector, tuple) for vector in lectures.DREAM_VECTORS)
    assert all(isinstance(vector, tuple) for vector in lectures.THREE_VECTORS.values())


def test_no_concept_is_mapped_twice():
    names = [concept["id"] for concept in CONCEPTS]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("concept", CONCEPTS, ids=lambda concept: concept["id"])
def test_each_concept_names_a_page_and_a_test_that_exist(concept):
    pages = [ROOT / "book" / f"{concept['page']}{suffix}" for suffix in (".ipynb", ".md")]
    assert any(page.exists() for page in pages)
    assert concept["sections"] and concept["tests"]
    for test in concept["tests"]:
        path, _, name = test.partition("::")
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, test
