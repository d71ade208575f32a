"""The dictionary of films with hard and soft look-up, without a browser."""

import math

import pytest
import torch

from lessons_pkg.figures.live.soft_lookup import QUERIES, TEMPERATURES, SoftLookup
from lessons_pkg.figures.numbers import fixed
from lessons_pkg.lectures import FILM_KEYS, FILM_TITLES, FILM_VALUES, LOVE


@pytest.fixture
def figure() -> SoftLookup:
    return SoftLookup()


def test_love_gets_the_lectures_scores_and_weights(figure):
    row, weights, _ = figure.look_up(LOVE)
    assert row.tolist() == [2, 1, 0]
    assert [fixed(w, 3) for w in weights] == ["0.665", "0.245", "0.090"]


def test_the_mix_of_love_is_what_a_hand_gets(figure):
    total = math.e**2 + math.e + 1
    by_hand = [
        (9 * math.e**2 + 7 * math.e + 1) / total,
        (2 * math.e**2 + 9 * math.e + 0) / total,
        (5 * math.e**2 + 1 * math.e + 9) / total,
    ]
    assert figure.look_up(LOVE).mix.tolist() == pytest.approx(by_hand)


@pytest.mark.parametrize("temperature", TEMPERATURES)
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_torchs_own_attention_agrees_at_every_temperature(figure, query, temperature):
    names = figure.shelves(True)
    q, k, v = (
        torch.tensor(rows, dtype=torch.float64)
        for rows in ([query], [FILM_KEYS[n] for n in names], [FILM_VALUES[n] for n in names])
    )
    want = torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=1 / temperature)
    got = figure.look_up(query, temperature=temperature, action=True)
    torch.testing.assert_close(got.mix, want[0])
    assert (got.weights > 0).all()


def test_action_has_a_negative_score_and_a_positive_weight(figure):
    row, weights, _ = figure.look_up(LOVE, action=True)
    assert row[3].item() == pytest.approx(-0.6)
    assert fixed(weights[3], 3) == "0.047"


def test_at_the_cold_end_the_best_film_prints_as_all_of_the_weight(figure):
    for name in ("love", "thrill"):
        for action in (False, True):
            row, weights, mix = figure.look_up(
                QUERIES[name], temperature=TEMPERATURES[0], action=action
            )
            best = figure.winners(QUERIES[name], action=action)
            assert len(best) == 1
            assert fixed(weights[row.argmax()], 2) == "1.00"
            assert mix.tolist() == pytest.approx(FILM_VALUES[best[0]], abs=0.005)


def test_a_query_for_nothing_is_a_tie_with_equal_weights(figure):
    assert figure.winners(QUERIES["anything"], action=True) == tuple(FILM_KEYS)
    for temperature in TEMPERATURES:
        weights = figure.look_up(QUERIES["anything"], temperature=temperature).weights
        assert weights.tolist() == pytest.approx([1 / 3] * 3)


def test_the_right_answer_of_the_question_is_right(figure):
    assert figure.predict.options[figure.predict.answer] == "above 0, below that of horror"
    weights = figure.look_up(LOVE, action=True).weights
    assert 0 < weights[3] < weights[2]
    assert "0.55 / 11.66 = 0.047" in figure.predict.why
    assert figure.predict.show == {"query": [2, 1, 0], "temperature": 1, "action": True}


def test_another_start_is_asked_nothing():
    assert SoftLookup((1, 0, 0)).predict is None
    assert SoftLookup(action=True).predict is None


def test_the_fallback_holds_scores_weights_and_the_three_answers(figure):
    html = figure.html()
    for cell in (
        *("(1, 0, 0)", "2.0", "1.0", "0.0", "0.67", "0.24", "0.09"),
        *("Psycho (1, 0, 9)", "7.79", "3.53", "4.38", "KeyError", "all, mixed"),
    ):
        assert f"<td>{cell}</td>" in html
    assert "<td>Titanic</td><td>9</td><td>2</td><td>5</td>" in html
    assert FILM_TITLES["action"] not in html.split("<table", 1)[1]
    assert html == SoftLookup().html()


def test_the_fallback_names_a_tie_and_a_key_that_is_there():
    html = SoftLookup((0, 0, 0)).html()
    assert "<td>a tie: romantic, comedy and horror</td><td>–</td>" in html
    html = SoftLookup((0, 1, 0)).html()
    assert "films[(0, 1, 0)]</th><td>Some Like It Hot</td><td>7</td>" in html
    html = SoftLookup(LOVE, action=True).html()
    assert "<td>(0, −0.6, 0.8)</td><td>−0.6</td><td>0.05</td>" in html


@pytest.mark.parametrize("query", [(1, 0), (1, 0, 0, 0), (3.5, 0, 0), (0, 0, math.nan)])
def test_a_query_that_the_cells_cannot_hold_is_refused(query):
    with pytest.raises(ValueError, match="three numbers from -3 to 3"):
        SoftLookup(query)


def test_arguments_of_the_wrong_kind_are_refused():
    with pytest.raises(TypeError, match="action must be True or False"):
        SoftLookup(action=1)
    with pytest.raises(ValueError, match="id must hold letters"):
        SoftLookup(id="fig soft")
