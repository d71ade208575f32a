"""The recurrent network and attention of the prologue, without a browser."""

import math

import pytest
import torch

from lessons_pkg.figures.live.recurrence import LONG_SENTENCE, RecurrenceVersusAttention


def central(function, x: torch.Tensor, word: int, size: float = 1e-6) -> float:
    """Frobenius norm of the Jacobian by a word's vector, by differences from both sides."""
    columns = []
    for d in range(x.shape[1]):
        move = torch.zeros_like(x)
        move[word, d] = size
        columns.append((function(x + move) - function(x - move)) / (2 * size))
    return torch.stack(columns).norm().item()


@pytest.fixture
def figure() -> RecurrenceVersusAttention:
    return RecurrenceVersusAttention()


@pytest.mark.parametrize("factor", [0.7, 1.0, 1.3])
def test_influence_is_what_small_moves_of_a_word_do(figure, factor):
    x = figure.x[:7]
    state, context = figure.influence(7, factor)
    for word in range(7):
        by_state = central(lambda rows: figure.states(rows, factor)[-1], x, word)
        by_context = central(figure.context, x, word)
        assert state[word] == pytest.approx(by_state, rel=1e-5)
        assert context[word] == pytest.approx(by_context, rel=1e-5)


def test_at_the_start_the_first_word_has_faded_in_the_recurrence_alone(figure):
    state, context = figure.influence(figure.length)
    assert state == sorted(state)
    assert state[0] < state[-1] / 100
    assert context[0] > max(context) / 3


def test_for_attention_equal_words_have_equal_influence_unless_one_is_the_query(figure):
    _, context = figure.influence(23)
    the = [t for t in range(23) if LONG_SENTENCE[t] == "the"]
    assert the == [0, 5, 8, 17, 22]
    assert [context[t] for t in the[:-1]] == pytest.approx([context[0]] * 4, rel=1e-12)
    assert context[22] > 1.5 * context[0]


def test_the_first_word_can_fade_although_u_alone_would_make_it_grow(figure):
    u = torch.tensor(figure.config()["u"], dtype=torch.float64)
    assert torch.linalg.eigvals(1.5 * u).abs().max() > 1
    state, _ = figure.influence(24, 1.5)
    assert state[0] < state[-1] / 100


def test_the_first_state_is_tanh_of_the_first_word_by_hand(figure):
    # x = (0.2, 0.1, -0.1), first column of W (0.8, 0.1, -0.2), b = 0.1: 0.16 + 0.01 + 0.02 + 0.1
    assert figure.states(figure.x[:1])[0, 0].item() == pytest.approx(math.tanh(0.29))


def test_the_right_answer_of_the_question_is_right(figure):
    short, long = figure.influence(12)[0][0], figure.influence(24)[0][0]
    assert long < short / 1000
    assert figure.predict.options[figure.predict.answer] == "falls to less than a thousandth"
    assert figure.predict.show == {"length": 24, "step": 24, "factor": 1}


def test_the_fallback_holds_steps_vectors_and_influence(figure):
    html = figure.html()
    for cell in ("12", "1", "0.09", "−0.58", "3.5 × 10⁻³", "1.4", "0.39"):
        assert f"<td>{cell}</td>" in html
    assert html == RecurrenceVersusAttention().html()


def test_words_of_ones_own_are_asked_nothing_and_equal_words_share_a_vector():
    figure = RecurrenceVersusAttention(["so", "it", "so", "<pad>"])
    assert figure.predict is None
    assert torch.equal(figure.x[0], figure.x[2])
    assert not torch.equal(figure.x[0], figure.x[1])
    assert "<pad>" not in figure.html()


@pytest.mark.parametrize("words", [["one"], ["a"] * 25, "the dog", ["a", ""]])
def test_words_that_cannot_be_drawn_are_refused(words):
    with pytest.raises(ValueError, match="words must"):
        RecurrenceVersusAttention(words)
