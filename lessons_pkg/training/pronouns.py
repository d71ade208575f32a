"""Train W_Q, W_K and W_V until `it` attends to the noun that it stands for (chapter 2).

``python -m lessons_pkg.training.pronouns --record`` writes the run that the course shows.
"""

import argparse
import json
import warnings
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lessons_pkg.attention.dot_product import attend
from lessons_pkg.attention.projections import Projections
from lessons_pkg.corpus.pronouns import NOUN_FEATURES, PronounTask, pronoun_task
from lessons_pkg.lectures import SENTENCE
from lessons_pkg.training._common import check_settings, copy_of, one_thread, rounded

__all__ = ["PronounRun", "recorded_run", "train_pronouns"]

RECORDING = Path(__file__).parent / "recordings" / "pronouns.json"
_VALUE_SHARE = 0.1
_START = 0.3
_FORM = "lessons_pkg pronouns 1"
_LEAST = {"seed": 0, "steps": 1, "d_k": 1, "every": 1}


class Loss(NamedTuple):
    """What training lowers: wrong weights, and contexts unlike the noun."""

    weights: Tensor
    values: Tensor

    def total(self) -> Tensor:
        """Add the two; the second counts little."""
        return self.weights + _VALUE_SHARE * self.values


@dataclass(frozen=True)
class PronounRun:
    """One training, step by step, as seen on the lectures' sentence.

    Args:
        settings: ``seed``, ``learning_rate``, ``steps``, ``d_k``, ``position`` and ``every``.
        tokens: The words of the lectures' sentence. It is not trained on.
        pronouns: Where its two `it` stand.
        antecedents: Where the nouns stand that they mean.
        steps: After how many updates each frame was taken; the first is 0.
        losses: The mean of -log(weight of the right noun) over the training sentences, a number
            a frame.
        value_losses: The mean squared difference between the context of `it` and the noun's
            features, a number a frame.
        weights: For each frame the two rows of weights, ``(frames, 2, tokens)``.
        accuracy_train: The share of `it` whose largest weight lies on the right noun, at the end.
        accuracy_held_out: The same on the pairs kept apart.
        stopped: The step at which the loss was no number any more, or None.
        projections: The trained maps; None in a run that was read from its record.
        control: The same training without positions; None where there was none.

    Raises:
        dataclasses.FrozenInstanceError: A field is assigned to.

    Source:
        Lecture [L6.11]. Chapter 2.
    """

    settings: dict[str, Any]
    tokens: tuple[str, ...]
    pronouns: tuple[int, ...]
    antecedents: tuple[int, ...]
    steps: tuple[int, ...]
    losses: tuple[float, ...]
    value_losses: tuple[float, ...]
    weights: tuple[tuple[tuple[float, ...], ...], ...]
    accuracy_train: float
    accuracy_held_out: float
    stopped: int | None
    projections: Projections | None
    control: "PronounRun | None"


def train_pronouns(
    *,
    seed: int = 0,
    learning_rate: float = 0.05,
    steps: int = 400,
    d_k: int = 2,
    position: bool = True,
    every: int = 10,
) -> PronounRun:
    """Train the three maps with Adam on all training sentences at once.

    The loss asks for a large weight of the right noun; a second, small part asks that the context
    of `it` has the noun's features. Without the second part W_V would get no gradient, because
    weights come from queries and keys alone. The global random numbers are left as they are.

    Args:
        seed: Chooses the random start.
        learning_rate: The size of a step, positive.
        steps: The number of updates.
        d_k: Numbers in a query and a key.
        position: Whether the vectors hold the position.
        every: A frame is kept each so many steps, and one after the last.

    Returns:
        The run, with the trained maps in 32-bit floats. If the loss is no number at some step,
        training stops there with a warning, and the maps are those of the step before.

    Raises:
        TypeError: A setting is not of its kind.
        ValueError: ``learning_rate``, ``steps``, ``d_k`` or ``every`` is not positive and finite,
            or ``seed`` is negative.

    Source:
        Lecture [L6.11]. Chapter 2.
    """
    settings = {
        "seed": seed,
        "learning_rate": learning_rate,
        "steps": steps,
        "d_k": d_k,
        "position": position,
        "every": every,
    }
    check_settings(settings, _LEAST, "position")
    with one_thread():
        return _train(settings)


def _train(settings: dict[str, Any]) -> PronounRun:
    seed, steps, every = settings["seed"], settings["steps"], settings["every"]
    rate, position = settings["learning_rate"], settings["position"]
    train, held_out = (_doubled(pronoun_task(split, position)) for split in ("train", "held_out"))
    shown = held_out.tokens.index(SENTENCE)
    maps = _start(seed, train.x.shape[-1], settings["d_k"])
    optimizer = torch.optim.Adam(maps.parameters(), lr=rate)
    frames: list[tuple[int, float, float, list[list[float]]]] = []
    good, stopped = copy_of(maps), None
    for step in range(steps + 1):
        loss = _loss(maps, train)
        if not bool(loss.total().isfinite()):
            stopped = step
            maps.load_state_dict(good)
            warnings.warn(
                f"the loss is not finite at step {step}; training stops and keeps the maps of "
                f"step {step - 1}. Try a smaller learning_rate than {rate}.",
                RuntimeWarning,
                stacklevel=3,
            )
            break
        good = copy_of(maps)
        if step % every == 0 or step == steps:
            rows = _weights(maps, held_out)[shown].tolist()
            frames.append((step, loss.weights.item(), loss.values.item(), rows))
        if step < steps:
            optimizer.zero_grad()
            loss.total().backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    return PronounRun(
        settings=settings,
        tokens=SENTENCE,
        pronouns=tuple(held_out.pronouns[shown].tolist()),
        antecedents=tuple(held_out.antecedents[shown].tolist()),
        steps=tuple(frame[0] for frame in frames),
        losses=tuple(frame[1] for frame in frames),
        value_losses=tuple(frame[2] for frame in frames),
        weights=tuple(tuple(map(tuple, frame[3])) for frame in frames),
        accuracy_train=_accuracy(maps, train),
        accuracy_held_out=_accuracy(maps, held_out),
        stopped=stopped,
        projections=maps.float(),
        control=None,
    )


def recorded_run() -> PronounRun:
    """Read the run that the course shows, with its control run without positions.

    Returns:
        The run, its numbers rounded to four decimals, without the trained maps.

    Raises:
        FileNotFoundError: There is no record.
        ValueError: The record is of another form.

    Source:
        Lecture [L6.11]. Chapter 2.
    """
    record = json.loads(RECORDING.read_text(encoding="utf-8"))
    if record.pop("form", None) != _FORM:
        raise ValueError(f"{RECORDING.name}: expected a record of the form {_FORM!r}.")
    control = _from_record(record.pop("control"), None)
    return _from_record(record, control)


def _doubled(task: PronounTask) -> PronounTask:
    return replace(task, x=task.x.double())


def _start(seed: int, d_model: int, d_k: int) -> Projections:
    generator = torch.Generator(device="cpu").manual_seed(seed)
    widths = (d_k, d_k, NOUN_FEATURES)
    w_q, w_k, w_v = (
        _START * torch.randn(d_model, width, generator=generator, dtype=torch.float64, device="cpu")
        for width in widths
    )
    with torch.random.fork_rng(devices=[]):  # nn.Linear draws numbers that are overwritten
        return Projections.from_matrices(w_q, w_k, w_v)


def _rows(tensor: Tensor, places: Tensor) -> Tensor:
    """Pick rows of each sentence: (sentences, tokens, d) and (sentences, 2) → (sentences, 2, d)."""
    return tensor.gather(1, places[..., None].expand(-1, -1, tensor.shape[-1]))


def _loss(maps: Projections, task: PronounTask) -> Loss:
    context, weights = attend(*maps(task.x))
    right = _rows(weights, task.pronouns).gather(2, task.antecedents[..., None])
    nouns = _rows(task.x, task.antecedents)[..., :NOUN_FEATURES]
    difference = _rows(context, task.pronouns) - nouns
    return Loss(-right.log().mean(), difference.square().mean())


@torch.no_grad()
def _weights(maps: Projections, task: PronounTask) -> Tensor:
    return _rows(attend(*maps(task.x)).weights, task.pronouns)


def _accuracy(maps: Projections, task: PronounTask) -> float:
    return float((_weights(maps, task).argmax(-1) == task.antecedents).double().mean())


def _to_record(run: PronounRun) -> dict[str, Any]:
    bare = asdict(replace(run, projections=None, control=None))
    del bare["projections"], bare["control"]
    return {name: rounded(value) for name, value in bare.items()}


def _from_record(record: dict[str, Any], control: PronounRun | None) -> PronounRun:
    for name in ("tokens", "pronouns", "antecedents", "steps", "losses", "value_losses"):
        record[name] = tuple(record[name])
    record["weights"] = tuple(tuple(map(tuple, frame)) for frame in record["weights"])
    return PronounRun(**record, projections=None, control=control)


def _record_text() -> str:
    record = {"form": _FORM, **_to_record(train_pronouns())}
    record["control"] = _to_record(train_pronouns(position=False))
    return json.dumps(record, separators=(",", ":")) + "\n"


def _main() -> None:
    parser = argparse.ArgumentParser(description="Train `it` and show or record the run.")
    parser.add_argument("--record", action="store_true", help=f"write {RECORDING.name}")
    if parser.parse_args().record:
        RECORDING.parent.mkdir(exist_ok=True)
        RECORDING.write_text(_record_text(), encoding="utf-8")
    run = train_pronouns()
    print(f"loss {run.losses[0]:.3f} → {run.losses[-1]:.3f}")


if __name__ == "__main__":
    _main()
