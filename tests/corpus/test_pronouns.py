"""Sentences with two `it`: what is where, and what is kept apart."""

import pytest
import torch

from lessons_pkg.corpus.pronouns import FEATURES, NOUN_FEATURES, pronoun_task
from lessons_pkg.lectures import SENTENCE

SPLITS = ("train", "held_out")
POSITION = FEATURES.index("position")


def pairs(task):
    return {
        tuple(words[i] for i in places)
        for words, places in zip(task.tokens, task.antecedents.tolist(), strict=True)
    }


@pytest.mark.parametrize("split", SPLITS)
def test_each_it_is_an_it_and_means_one_of_two_different_nouns(split):
    task = pronoun_task(split)
    for words, its in zip(task.tokens, task.pronouns.tolist(), strict=True):
        assert [i for i, word in enumerate(words) if word == "it"] == its
    nouns = task.x.gather(1, task.antecedents[..., None].expand(-1, -1, task.x.shape[-1]))
    assert torch.equal(nouns[..., :2].sum(-1), torch.ones(len(task.tokens), 2))
    assert (nouns[:, 0, :NOUN_FEATURES] != nouns[:, 1, :NOUN_FEATURES]).any(-1).all()


def test_no_pair_is_in_both_splits_and_every_noun_is_trained_in_its_place():
    train, held_out = (pairs(pronoun_task(split)) for split in SPLITS)
    assert not train & held_out and len(train | held_out) == 5 * 9
    for place in (0, 1):
        assert {pair[place] for pair in held_out} <= {pair[place] for pair in train}


def test_the_lectures_sentence_is_kept_apart():
    assert SENTENCE in pronoun_task("held_out").tokens
    assert SENTENCE not in pronoun_task("train").tokens


def test_an_animal_can_be_the_second_noun_so_that_kind_alone_does_not_tell():
    second = pronoun_task("train").x[:, 4, 0]
    assert 0 < second.sum() < len(second)


def test_the_last_column_is_the_place_in_tenths():
    x = pronoun_task("train").x
    expected = torch.tensor([0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    assert torch.allclose(x[..., -1], expected.expand(len(x), -1)) and x.shape[-1] - 1 == POSITION


def test_without_positions_both_it_have_one_vector_and_nothing_else_changes():
    with_it, without = pronoun_task("train"), pronoun_task("train", position=False)
    assert torch.equal(without.x[:, 6], without.x[:, 10])
    assert not torch.equal(with_it.x[:, 6], with_it.x[:, 10])
    assert torch.equal(with_it.x[..., :-1], without.x[..., :-1])


@pytest.mark.parametrize("split", SPLITS)
def test_the_nouns_have_different_features(split):
    seen = {}
    task = pronoun_task(split)
    for words, rows, places in zip(task.tokens, task.x, task.antecedents.tolist(), strict=True):
        for i in places:
            seen[words[i]] = tuple(rows[i, :NOUN_FEATURES].tolist())
    assert len(set(seen.values())) == len(seen)


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="'train' or 'held_out'; got 'test'"):
        pronoun_task("test")
    with pytest.raises(TypeError, match="True or False; got 1"):
        pronoun_task(position=1)
