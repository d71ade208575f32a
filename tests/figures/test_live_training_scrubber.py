"""The recorded training in its figure, without a browser."""

import json
import math
import re
from dataclasses import replace
from html import unescape

import pytest

from lessons_pkg.figures.live.training_scrubber import TrainingScrubber, _weight
from lessons_pkg.training.pronouns import recorded_run, train_pronouns


@pytest.fixture
def figure() -> TrainingScrubber:
    return TrainingScrubber()


def config_of(figure: TrainingScrubber) -> dict:
    return json.loads(unescape(re.search(r'config="([^"]*)"', figure.html())[1]))


def tables_of(figure: TrainingScrubber) -> list[list[list[str]]]:
    """Each table of the fallback as rows of texts, the head among them."""
    return [
        [
            re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", row)
            for row in re.findall(r"<tr>.*?</tr>", table, re.DOTALL)
        ]
        for table in re.findall(r"<table.*?</table>", figure.fallback(), re.DOTALL)
    ]


def test_the_page_gets_every_frame_of_both_runs(figure):
    run, config = recorded_run(), config_of(figure)
    assert config["steps"] == list(range(0, 401, 10))
    assert config["tokens"] == "the dog chased the ball but it could not catch it".split()
    assert (config["pronouns"], config["nouns"], config["positions"]) == ([6, 10], [1, 4], True)
    for name, each in (("run", run), ("control", run.control)):
        assert config[name]["losses"] == list(each.losses)
        assert config[name]["values"] == list(each.value_losses)
        assert config[name]["weights"] == json.loads(json.dumps(each.weights))


def test_each_row_of_the_page_is_one_share_of_attention(figure):
    config = config_of(figure)
    rows = [row for run in ("run", "control") for frame in config[run]["weights"] for row in frame]
    assert len(rows) == 2 * 41 * 2 and {len(row) for row in rows} == {11}
    assert all(sum(row) == pytest.approx(1, abs=11 * 0.00005) for row in rows)
    assert all(0 <= weight <= 1 for row in rows for weight in row)


def test_the_title_says_what_the_last_frame_shows(figure):
    assert figure.title == "After 400 steps each “it” looks at its own noun"
    first, second = config_of(figure)["run"]["weights"][-1]
    assert first.index(max(first)) == 1 and second.index(max(second)) == 4
    without = TrainingScrubber(recorded_run().control)
    assert without.title == "After 400 steps the two “it” do not both look at its own noun"


def test_no_number_of_steps_parts_the_rows_of_the_control(figure):
    control = recorded_run().control
    assert all(first == second for first, second in control.weights)
    assert min(control.losses) > math.log(2)
    assert figure.predict.options[figure.predict.answer] == "no number is enough"
    assert figure.predict.show == {"positions": False, "frame": 40}
    assert "ln 2 = 0.693" in figure.predict.why and "it is 0.6933." in figure.predict.why


def test_the_fallback_holds_losses_and_weights_of_both_runs(figure):
    steps, last, control_steps, control_last = tables_of(figure)
    assert steps == [
        ["step", "loss", "first it on dog", "second it on ball"],
        ["0", "2.5863", "0.08", "0.06"],
        ["10", "1.2030", "0.35", "0.29"],
        ["50", "0.7120", "0.41", "0.60"],
        ["100", "0.5396", "0.62", "0.69"],
        ["400", "0.0135", "1.00", "1.00"],
    ]
    assert control_steps[1:] == [
        ["0", "2.5989", "0.08", "0.06"],
        ["10", "1.5513", "0.22", "0.22"],
        ["50", "0.7282", "0.38", "0.61"],
        ["100", "0.6965", "0.49", "0.50"],
        ["400", "0.6933", "0.50", "0.50"],
    ]
    words = ["word", *"the dog chased the ball but it could not catch it".split()]
    zero = ["0.00"] * 11
    ends = [list(column) for column in zip(*last, strict=True)]
    assert ends == [
        words,
        ["first it", *zero[:1], "1.00", *zero[2:]],
        ["second it", *zero[:4], "1.00", *zero[5:]],
    ]
    half = [*zero[:1], "0.50", *zero[2:4], "0.50", *zero[5:]]
    ends = [list(column) for column in zip(*control_last, strict=True)]
    assert ends == [words, ["first it", *half], ["second it", *half]]


def test_the_same_run_gives_the_same_text(figure):
    assert figure.html() == TrainingScrubber(recorded_run()).html()


@pytest.mark.parametrize(
    ("value", "text"), [(0.035, "0.035"), (0.0349, "0.03"), (0.0351, "0.04"), (1.0, "1.00")]
)
def test_a_weight_right_at_a_tie_keeps_its_third_digit(value, text):
    assert _weight(value) == text


def test_a_run_of_ones_own_is_asked_nothing_and_needs_no_control():
    run = train_pronouns(steps=7, every=5)
    figure = TrainingScrubber(run)
    config = config_of(figure)
    assert figure.predict is None and "predict" not in config
    assert config["control"] is None
    assert config["steps"] == [0, 5, 7]
    assert config["run"]["losses"] == [round(loss, 4) for loss in run.losses]
    assert [row[0] for row in tables_of(figure)[0]] == ["step", "0", "7"]


def test_the_question_is_not_asked_where_the_control_parts_the_rows():
    run = recorded_run()
    odd = replace(run.control, weights=(*run.control.weights[:-1], run.weights[-1]))
    assert TrainingScrubber(replace(run, control=odd)).predict is None
    assert TrainingScrubber(predict=None).predict is None


def test_words_that_look_like_markup_stay_text():
    run = recorded_run()
    tokens = ("<pad>", *run.tokens[1:])
    control = replace(run.control, tokens=tokens)
    figure = TrainingScrubber(replace(run, tokens=tokens, control=control))
    assert config_of(figure)["tokens"][0] == "<pad>"
    assert "<pad>" not in figure.html()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda run: replace(run, steps=run.steps[:1], control=None),
        lambda run: replace(run, control=replace(run.control, steps=run.steps[:-1])),
        lambda run: replace(run, control=replace(run.control, tokens=run.tokens[:-1])),
        lambda run: replace(run, control=replace(run, control=None)),
    ],
)
def test_a_run_that_cannot_be_drawn_is_refused(spoil):
    with pytest.raises(ValueError, match="must"):
        TrainingScrubber(spoil(recorded_run()))


def test_a_thing_that_is_no_run_is_refused():
    with pytest.raises(TypeError, match="run must be a PronounRun; got dict"):
        TrainingScrubber({"losses": [1.0]})
