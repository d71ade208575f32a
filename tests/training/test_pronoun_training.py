"""`it` learns its noun, from several starts, and cannot learn it without positions."""

import math

import pytest
import torch

from lessons_pkg.attention.dot_product import attend
from lessons_pkg.corpus.pronouns import pronoun_task
from lessons_pkg.lectures import SENTENCE
from lessons_pkg.training import pronouns
from lessons_pkg.training.pronouns import recorded_run, train_pronouns

SEEDS = range(5)


@pytest.fixture(scope="module", params=SEEDS)
def run(request):
    return train_pronouns(seed=request.param)


@pytest.fixture(scope="module", params=SEEDS)
def control(request):
    return train_pronouns(seed=request.param, position=False)


def on_the_nouns(run, frame=-1):
    rows = run.weights[frame]
    return [row[place] for row, place in zip(rows, run.antecedents, strict=True)]


def test_each_it_attends_to_its_noun_in_a_sentence_it_never_saw(run):
    """Measured over the seeds: weights of at least 0.9999, losses from 0.008 to 0.014."""
    assert run.tokens == SENTENCE and run.stopped is None
    assert min(on_the_nouns(run)) > 0.99
    assert run.losses[-1] < 0.05 < 2 < run.losses[0]
    assert run.accuracy_train == run.accuracy_held_out == 1.0


def test_the_context_of_it_has_the_features_of_its_noun(run):
    assert run.value_losses[-1] < 1e-3 < run.value_losses[0]


def test_the_trained_maps_give_the_last_frame(run):
    task = pronoun_task("held_out")
    x = task.x[task.tokens.index(SENTENCE)]
    rows = attend(*run.projections(x)).weights[[6, 10]]
    assert torch.allclose(rows, torch.tensor(run.weights[-1]), atol=1e-4)


def test_without_positions_both_rows_are_one_and_the_loss_stays_at_ln_2(control):
    """Two nouns share one row, so that w(1 - w) ≤ 1/4. Measured: at most 0.0003 above ln 2."""
    assert all(math.dist(*rows) < 1e-12 for rows in control.weights)
    assert all(loss >= math.log(2) for loss in control.losses)
    assert control.losses[-1] < math.log(2) + 0.001
    assert control.accuracy_train == control.accuracy_held_out == 0.5


def test_the_weights_alone_give_the_value_matrix_no_gradient():
    task = pronoun_task("train")
    for part, learns in (("weights", False), ("values", True)):
        maps = pronouns._start(0, task.x.shape[-1], 2).float()
        getattr(pronouns._loss(maps, task), part).backward()
        gradient = maps.value.weight.grad
        assert (gradient is not None and bool(gradient.any())) is learns
        assert maps.query.weight.grad.any() and maps.key.weight.grad.any()


def test_the_loss_agrees_with_a_loop_over_the_sentences():
    task = pronoun_task("train")
    maps = pronouns._start(3, task.x.shape[-1], 2).float()
    logs, squares = [], []
    for x, its, nouns in zip(
        task.x, task.pronouns.tolist(), task.antecedents.tolist(), strict=True
    ):
        for it, noun in zip(its, nouns, strict=True):
            q, k, v = maps.query(x[it]), maps.key(x), maps.value(x)
            row = torch.softmax(k @ q, 0)
            logs.append(-math.log(row[noun].item()))
            squares.append((row @ v - x[noun, :4]).square().mean().item())
    loss = pronouns._loss(maps, task)
    assert loss.weights.item() == pytest.approx(sum(logs) / len(logs), rel=1e-5)
    assert loss.values.item() == pytest.approx(sum(squares) / len(squares), rel=1e-5)


def test_the_frames_are_the_steps_asked_for_and_the_last():
    run = train_pronouns(steps=17, every=5)
    assert run.steps == (0, 5, 10, 15, 17)
    assert len(run.losses) == len(run.value_losses) == len(run.weights) == 5
    assert all(abs(sum(row) - 1) < 1e-9 for rows in run.weights for row in rows)


def test_a_seed_repeats_its_run_and_leaves_the_global_random_numbers_alone():
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    first = train_pronouns(seed=2, steps=7, every=7)
    assert torch.equal(torch.rand(3), expected)
    assert first.losses == train_pronouns(seed=2, steps=7, every=7).losses
    assert first.losses != train_pronouns(seed=3, steps=7, every=7).losses


def test_training_puts_the_number_of_threads_back():
    torch.set_num_threads(2)
    try:
        train_pronouns(steps=1)
        assert torch.get_num_threads() == 2
        with pytest.raises(ValueError, match="steps"):
            train_pronouns(steps=0)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)


def test_a_loss_that_is_no_number_stops_and_keeps_the_maps_before_it():
    with pytest.warns(RuntimeWarning, match="not finite at step 1; .* maps of step 0"):
        run = train_pronouns(learning_rate=1e200, steps=7, every=1)
    assert run.stopped == 1 and run.steps == (0,)
    start = pronouns._start(0, 8, 2).float()
    for kept, first in zip(run.projections.parameters(), start.parameters(), strict=True):
        assert torch.equal(kept, first)


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"learning_rate": 0}, ValueError, "learning_rate must be positive and finite; got 0"),
        ({"learning_rate": -0.1}, ValueError, "got -0.1"),
        ({"learning_rate": math.nan}, ValueError, "got nan"),
        ({"learning_rate": math.inf}, ValueError, "got inf"),
        ({"learning_rate": "0.1"}, TypeError, "must be a number; got '0.1'"),
        ({"steps": 0}, ValueError, "steps must be at least 1; got 0"),
        ({"steps": 1.5}, TypeError, "steps must be a whole number; got 1.5"),
        ({"every": 0}, ValueError, "every must be at least 1"),
        ({"d_k": 0}, ValueError, "d_k must be at least 1"),
        ({"seed": -1}, ValueError, "seed must be at least 0"),
        ({"seed": True}, TypeError, "seed must be a whole number; got True"),
        ({"position": 1}, TypeError, "position must be True or False; got 1"),
    ],
)
def test_settings_that_cannot_train_are_refused(settings, error, said):
    with pytest.raises(error, match=said):
        train_pronouns(**settings)


@pytest.mark.parametrize("which", ["run", "control"])
def test_training_again_gives_the_recorded_run(which):
    recorded = recorded_run() if which == "run" else recorded_run().control
    again = train_pronouns(**recorded.settings)
    assert recorded.settings["position"] is (which == "run")
    for name in ("tokens", "pronouns", "antecedents", "steps", "accuracy_held_out", "stopped"):
        assert getattr(recorded, name) == getattr(again, name)
    for name in ("losses", "value_losses", "weights"):
        was, now = (torch.tensor(getattr(r, name)) for r in (recorded, again))
        assert torch.allclose(was, now, rtol=0, atol=2e-4), name


def test_the_record_has_about_forty_frames_of_rounded_numbers():
    recorded = recorded_run()
    assert len(recorded.steps) == len(recorded.control.steps) == 41
    numbers = [w for rows in recorded.weights for row in rows for w in row]
    assert all(round(w, 4) == w for w in (*numbers, *recorded.losses))
    assert recorded.projections is None and min(on_the_nouns(recorded)) > 0.99


def test_writing_the_record_twice_gives_the_same_bytes(monkeypatch):
    short = pronouns.train_pronouns
    monkeypatch.setattr(pronouns, "train_pronouns", lambda **kw: short(steps=11, **kw))
    assert pronouns._record_text() == pronouns._record_text()


def test_a_file_of_another_form_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "other.json"
    path.write_text("{}")
    monkeypatch.setattr(pronouns, "RECORDING", path)
    with pytest.raises(ValueError, match=r"other\.json: expected a record"):
        recorded_run()
