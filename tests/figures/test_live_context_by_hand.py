"""The context vector by hand of chapter 2, without a browser."""

import math
import re

import pytest
import torch

from lessons_pkg.attention.dot_product import attend, scores
from lessons_pkg.attention.projections import Projections
from lessons_pkg.figures.live.context_by_hand import ContextByHand
from lessons_pkg.figures.numbers import fixed
from lessons_pkg.lectures import (
    BALL_SPOKEN_SCORES,
    BALL_SPOKEN_WEIGHTS,
    BALL_TOKENS,
    BALL_VECTORS,
    BALL_W_K,
    BALL_W_Q,
    BALL_W_V,
)


def by_package(positions: bool = True):
    """Query, key, value, scores, weights and context of all five words."""
    x, w_q, w_k, w_v = (
        torch.tensor(m, dtype=torch.float64) for m in (BALL_VECTORS, BALL_W_Q, BALL_W_K, BALL_W_V)
    )
    if not positions:
        x[:, 2] = 0
    with torch.no_grad():
        query, key, value = Projections.from_matrices(w_q, w_k, w_v)(x)
    context, weights = attend(query, key, value, scale=1 / math.sqrt(2))
    return query, key, value, scores(query, key), weights, context


def cells(html: str) -> list[str]:
    return re.findall(r"<td>([^<]*)</td>", html)


@pytest.fixture
def figure() -> ContextByHand:
    return ContextByHand()


def test_the_numbers_of_ball_by_hand_are_the_packages():
    query, key, value, score, weights, context = by_package()
    q = [1.5 * 0.6 + 1.3 * 0.9 + 0.5 * 0.3, 1.5 * 1.3 + 1.3 * 1.7 + 0.5 * 0.6]
    assert query[4].tolist() == pytest.approx(q)
    assert q == pytest.approx([2.22, 4.46])
    row = [q[0] * k[0] + q[1] * k[1] for k in key.tolist()]
    assert score[4].tolist() == pytest.approx(row)
    powers = [math.exp(s / math.sqrt(2)) for s in row]
    shares = [power / sum(powers) for power in powers]
    assert weights[4].tolist() == pytest.approx(shares)
    mixed = [sum(w * v[d] for w, v in zip(shares, value.tolist(), strict=True)) for d in (0, 1)]
    assert context[4].tolist() == pytest.approx(mixed)


def test_the_fallback_holds_the_lectures_numbers(figure):
    shown = cells(figure.html())
    lines = [shown[i : i + 5] for i, cell in enumerate(shown) if cell.startswith("(2.22 × ")]
    assert [line[1] for line in lines] == ["2.89", "2.82", "3.42", "2.15", "3.73"]
    assert [float(line[1]) for line in lines][:3] == list(BALL_SPOKEN_SCORES)
    assert [line[2] for line in lines] == ["2.04", "2.00", "2.42", "1.52", "2.64"]
    assert [float(line[3]) for line in lines] == list(BALL_SPOKEN_WEIGHTS)
    assert lines[3][0] == "(2.22 × 1.47) + (4.46 × −0.25)"
    assert lines[0][4] == "0.17 × (0.77, 0.85)"
    assert shown[-1] == "(0.824, 1.066)"


def test_the_fallback_holds_every_matrix_and_projection(figure):
    shown = cells(figure.html())
    query, key, value, *_ = by_package()
    for rows, decimals in [
        (BALL_VECTORS, 1),
        (BALL_W_Q, 1),
        (BALL_W_K, 1),
        (BALL_W_V, 1),
        (query.tolist(), 2),
        (key.tolist(), 2),
        (value.tolist(), 2),
    ]:
        for row in rows:
            text = f"({', '.join(fixed(v, decimals) for v in row)})".replace("-", "−")
            assert text in shown


@pytest.mark.parametrize("query", range(5))
def test_the_fallback_of_each_query_holds_the_packages_weights_and_context(query):
    *_, weights, context = by_package()
    html = ContextByHand(query).html()
    if query == 2:
        assert [fixed(w, 2) for w in weights[2]] == ["0.18", "0.17", "0.24", "0.12", "0.29"]
    last = html.split(f"Steps 2 to 5 for query {query + 1}, {BALL_TOKENS[query]}")[1]
    shown = cells(last)
    assert shown[3:25:5] == [fixed(w, 2) for w in weights[query]]
    assert shown[25] == f"({', '.join(fixed(v, 3) for v in context[query])})"


def test_two_runs_give_the_same_bytes(figure):
    assert figure.html() == ContextByHand().html()


def test_the_printed_weights_of_ball_add_to_99_hundredths():
    weights = by_package()[4][4]
    assert sum(round(100 * w) for w in weights.tolist()) == 99
    assert weights.sum().item() == pytest.approx(1)


def test_the_two_the_differ_by_their_position_alone():
    assert BALL_VECTORS[0][:2] == BALL_VECTORS[3][:2]
    assert BALL_VECTORS[0][2] != BALL_VECTORS[3][2]
    weights = by_package(positions=False)[4]
    assert torch.equal(weights[:, 0], weights[:, 3])
    assert fixed(weights[4, 0], 4) == "0.1187"


def test_without_positions_every_other_score_rises_more_than_that_of_the_first_word():
    # The figure says so for every query, and that the first word's weight falls.
    *_, with_scores, with_weights, _ = by_package()
    *_, scores_without, weights_without, _ = by_package(positions=False)
    rise = scores_without - with_scores
    assert (rise[:, 0] > 0).all()
    assert (rise[:, 1:] > rise[:, :1]).all()
    assert (weights_without[:, 0] < with_weights[:, 0]).all()


def test_the_right_answer_of_the_question_is_right(figure):
    weights = by_package()[4][2]
    assert int(weights.argmax()) == 4
    assert figure.predict.options[figure.predict.answer] == BALL_TOKENS[4]
    assert "ball gets 0.29, chased itself 0.24" in figure.predict.why
    assert figure.predict.show == {"query": 2, "step": 5, "without": False}


def test_a_figure_may_ask_nothing():
    assert "predict" not in ContextByHand(predict=None).html()


@pytest.mark.parametrize(("query", "error"), [(5, ValueError), (-1, ValueError), (True, TypeError)])
def test_a_query_that_is_no_word_is_refused(query, error):
    with pytest.raises(error, match="query must be"):
        ContextByHand(query)


def test_a_name_is_no_query():
    with pytest.raises(TypeError, match="query must be an index; got str"):
        ContextByHand("ball")
