"""The explorers of chapter 2: their logic, and the widgets driven by setting values."""

import math
import re
import warnings

import ipywidgets
import pytest
import torch

from lessons_pkg.attention.dot_product import softmax, weighted_sum
from lessons_pkg.figures import projection_widgets
from lessons_pkg.figures.projection_widgets import (
    project,
    projection_explorer,
    training_explorer,
)
from lessons_pkg.lectures import SENTENCE
from lessons_pkg.training.pronouns import train_pronouns

TEXT = " ".join(SENTENCE)


def controls(box):
    for child in box.children:
        if isinstance(child, ipywidgets.Box):
            yield from controls(child)
        elif not isinstance(child, ipywidgets.HTML):
            yield child


def projection_parts():
    text, row, message, result = projection_explorer().children
    return text, *row.children, message, result


def training_parts():
    row, message, result = training_explorer().children
    return *row.children, message, result


def shown_rows(value):
    """The cells of the first table of a result, row by row, as texts."""
    body = value.split("<tbody>")[1].split("</tbody>")[0]
    return [
        re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr.*?</tr>", body)
    ]


# --- project ---------------------------------------------------------------------------------


def test_equal_words_have_one_vector_and_equal_context_without_positions():
    found = project(TEXT, 3, 0, positions=False)
    assert torch.equal(found.vectors[6], found.vectors[10])
    assert not torch.equal(found.vectors[0], found.vectors[1])
    assert found.equal_words() == {"the": [0, 3], "it": [6, 10]}
    assert found.equal_words_have_equal_context()


def test_positions_add_one_column_and_part_equal_words():
    plain, placed = (project(TEXT, 3, 0, positions=flag) for flag in (False, True))
    assert torch.equal(placed.vectors[:, :-1], plain.vectors)
    torch.testing.assert_close(placed.vectors[:, -1], torch.arange(11) / 10)
    assert not placed.equal_words_have_equal_context()


def test_every_shape_is_that_of_its_matrix():
    found = project("a b c d e f g", 5, 0, positions=True)
    assert found.x_shape == (7, 9) == tuple(found.vectors.shape)
    assert found.query_shape == found.key_shape == found.value_shape == (7, 5)
    assert found.scores.shape == found.weights.shape == (7, 7)
    assert found.context.shape == (7, 5)


def test_weights_are_the_softmax_of_the_scores():
    found = project(TEXT, 7, 2, positions=True)
    torch.testing.assert_close(found.weights, softmax(found.scores))
    torch.testing.assert_close(found.weights.sum(-1), torch.ones(11))


def test_context_is_a_mixture_of_projected_values_and_scores_are_divided_by_the_root_of_d_k():
    seen = {}

    class Spy(projection_widgets.Projections):
        def forward(self, x, memory=None):
            seen["qkv"] = super().forward(x, memory)
            return seen["qkv"]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(projection_widgets, "Projections", Spy)
        found = project(TEXT, 5, 1, positions=False)
    query, key, value = seen["qkv"]
    torch.testing.assert_close(found.scores, query @ key.T / math.sqrt(5))
    torch.testing.assert_close(found.context, weighted_sum(found.weights, value))
    assert not torch.allclose(query, key)
    assert not torch.allclose(key, value)


@pytest.mark.parametrize(
    ("d_k", "positions", "count"), [(2, False, 48), (2, True, 54), (64, True, 1728)]
)
def test_the_number_of_parameters_depends_on_the_widths_and_not_on_the_sentence(
    d_k, positions, count
):
    for sentence in ("a", TEXT, "w " * 64):
        assert project(sentence, d_k, 0, positions).parameters == count


def test_words_added_at_the_end_change_no_score_between_earlier_ones():
    short, long = (project(text, 4, 3, positions=True) for text in ("a b c", "a b c d e"))
    torch.testing.assert_close(short.scores, long.scores[:3, :3])
    assert not torch.allclose(short.weights, long.weights[:3, :3])


def test_the_seed_decides_and_the_global_random_numbers_stay():
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    first, again, other = (project("a b c", 2, seed, False) for seed in (4, 4, 5))
    assert torch.equal(torch.rand(1), expected)
    assert torch.equal(first.weights, again.weights)
    assert not torch.equal(first.weights, other.weights)


@pytest.mark.parametrize(
    ("sentence", "d_k", "seed"),
    [("", 2, 0), ("  ", 2, 0), ("a " * 65, 2, 0), ("a", 0, 0), ("a", 65, 0), ("a", 2, -1)],
)
def test_input_out_of_range_is_refused_with_a_sentence(sentence, d_k, seed):
    with pytest.raises(ValueError, match=r"\.$"):
        project(sentence, d_k, seed, False)


# --- projection_explorer ---------------------------------------------------------------------


@pytest.mark.parametrize("make", [projection_explorer, training_explorer])
def test_every_control_has_a_description(make):
    found = list(controls(make()))
    assert len(found) == 5
    assert all(control.description for control in found)


def test_the_table_shows_what_project_returns():
    *_, result = projection_parts()
    rows = shown_rows(result.value)
    wanted = project(TEXT, 2, 0, positions=False).weights
    assert [row[0].removeprefix("▸ ") for row in rows] == list(SENTENCE)
    shown = torch.tensor([[float(cell) for cell in row[1:]] for row in rows])
    torch.testing.assert_close(shown, wanted, atol=0.0051, rtol=0)


def test_the_start_says_that_equal_words_have_equal_context_and_how_many_parameters_there_are():
    *_, result = projection_parts()
    assert "Equal words, equal context: yes" in result.value
    assert "3 × 8 × 2 = 48 numbers, however long the sentence is" in result.value
    for name, shape in (("X", "11 × 8"), ("Q", "11 × 2"), ("scores", "11 × 11")):
        assert f">{name}</th><td>{shape}</td>" in result.value


def test_every_control_changes_the_result():
    text, width, seeds, positions, query, message, result = projection_parts()
    seen = [result.value]
    for control, value in (
        (width, 5),
        (seeds, 7),
        (positions, True),
        (query, 4),
        (text, "a b a c d e"),
    ):
        control.value = value
        seen.append(result.value)
        assert message.value == ""
    assert len(set(seen)) == len(seen)
    rows = shown_rows(result.value)
    wanted = project("a b a c d e", 5, 7, positions=True).weights
    shown = torch.tensor([[float(cell) for cell in row[1:]] for row in rows])
    torch.testing.assert_close(shown, wanted, atol=0.0051, rtol=0)
    assert query.value == 4 and rows[4][0] == "▸ d"
    assert "“d” (word 5) looks most at" in result.value
    assert "Equal words, equal context: no" in result.value
    assert "3 × 9 × 5 = 135 numbers" in result.value


def test_the_query_moves_into_a_shorter_sentence():
    text, _, _, _, query, _, result = projection_parts()
    query.value = 10
    text.value = "no word twice"
    assert query.value == 2
    assert [label for label, _ in query.options] == ["1. no", "2. word", "3. twice"]
    assert "“twice” (word 3)" in result.value


@pytest.mark.parametrize("bad", ["", "   ", "w " * 65])
def test_a_bad_sentence_is_reported_and_the_last_good_result_stays(bad):
    text, *_, message, result = projection_parts()
    good = result.value
    text.value = bad
    assert "Error." in message.value
    assert result.value == good
    text.value = "good again"
    assert message.value == ""
    assert result.value != good


def test_markup_in_a_word_is_shown_as_text():
    text, *_, result = projection_parts()
    text.value = "<b>x</b> &"
    assert "&lt;b&gt;x&lt;/b&gt;" in result.value and "<b>x" not in result.value


@pytest.mark.parametrize("given", [{"sentence": ""}, {"d_k": 65}, {"seed": -1}])
def test_a_bad_start_is_refused(given):
    with pytest.raises(ValueError, match=r"\.$"):
        projection_explorer(**given)


# --- training_explorer -----------------------------------------------------------------------


def test_it_begins_with_the_recorded_run_and_its_settings():
    rate, seed, steps, positions, _, message, result = training_parts()
    assert (rate.value, seed.value, steps.value, positions.value) == (0.05, 0, 400, True)
    assert "The run that the course recorded" in result.value
    assert "Loss: 2.586 → 0.013" in result.value
    assert message.value == ""
    assert [row[0] for row in shown_rows(result.value)] == [str(50 * i) for i in range(9)]


def test_the_button_trains_with_the_settings_and_shows_that_run():
    rate, seed, steps, positions, train, message, result = training_parts()
    rate.value, seed.value, steps.value, positions.value = 0.1, 3, 60, False
    before = result.value
    train.click()
    run = train_pronouns(learning_rate=0.1, seed=3, steps=60, position=False, every=8)
    assert result.value != before and message.value == ""
    assert "The run that the course recorded" not in result.value
    assert "Learning rate 0.1, seed 3, 60 steps, without positions" in result.value
    assert f"Loss: {run.losses[0]:.3f} → {run.losses[-1]:.3f}" in result.value
    assert "With the maps of step 60 the largest weight" in result.value
    assert f"{100 * run.accuracy_train:.0f} % of the “it” in the training" in result.value
    assert f"{100 * run.accuracy_held_out:.0f} % in those kept apart" in result.value
    last = shown_rows(result.value)[-1]
    weights = [run.weights[-1][row][noun] for row, noun in enumerate(run.antecedents)]
    assert last == ["60", f"{run.losses[-1]:.3f}", *(f"{weight:.2f}" for weight in weights)]
    assert not train.disabled


@pytest.mark.parametrize("steps", [50, 77, 333])
def test_about_eight_frames_are_shown_and_the_last_step_is_one(steps, monkeypatch):
    *_, count, _, train, _, result = training_parts()
    monkeypatch.setattr(
        projection_widgets,
        "train_pronouns",
        lambda **given: train_pronouns(**{**given, "learning_rate": 0.01}),
    )
    count.value = steps
    train.click()
    shown = [int(row[0]) for row in shown_rows(result.value)]
    assert shown[0] == 0 and shown[-1] == steps
    assert 8 <= len(shown) <= 9


@pytest.mark.parametrize("bad", [0.0, -0.1, math.inf, math.nan])
def test_a_bad_learning_rate_is_reported_and_the_last_good_result_stays(bad):
    rate, _, _, _, train, message, result = training_parts()
    good = result.value
    rate.value = bad
    train.click()
    assert "Error." in message.value and "learning rate" in message.value
    assert message.value.count("It is ") == 1
    assert result.value == good and not train.disabled
    rate.value = 1e200
    train.click()
    assert "Error." not in message.value


def test_a_run_that_diverges_says_at_which_step_and_that_the_maps_before_are_kept():
    rate, _, _, _, train, message, result = training_parts()
    rate.value = 50.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train.click()
    with pytest.warns(RuntimeWarning):
        stopped = train_pronouns(learning_rate=50.0, every=50).stopped
    assert f"At step {stopped} the loss was no number" in message.value
    assert f"the maps of step {stopped - 1}" in message.value
    assert "Learning rate 50," in result.value
    assert f"With the maps of step {stopped - 1} the largest weight" in result.value
    assert [row[0] for row in shown_rows(result.value)] == ["0"]
    rate.value = 1e-3
    train.click()
    assert message.value == ""


def test_the_button_cannot_be_pressed_while_a_training_runs(monkeypatch):
    *_, train, message, _ = training_parts()
    seen = []

    def slow(**given):
        seen.append((train.disabled, "Training" in message.value))
        return train_pronouns(**{**given, "steps": 50})

    monkeypatch.setattr(projection_widgets, "train_pronouns", slow)
    train.click()
    assert seen == [(True, True)]
    assert not train.disabled and message.value == ""


def test_the_bounds_of_the_controls_are_what_the_training_takes():
    _, seed, steps, *_ = training_parts()
    assert (steps.min, steps.max) == (50, 1000)
    assert seed.min == 0
    steps.value = 5000
    assert steps.value == 1000
