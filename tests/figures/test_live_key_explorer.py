"""The key matrix that a reader edits, without a browser."""

import json
import math
import re
from html import unescape

import pytest
import torch

from lessons_pkg.attention.dot_product import attend
from lessons_pkg.attention.projections import Projections
from lessons_pkg.figures.live import KeyExplorer
from lessons_pkg.lectures import STRETCH, THREE_VECTORS

IDENTITY = torch.eye(3, dtype=torch.float64)
SHIFT = IDENTITY.roll(1, 1)
OTHER = torch.tensor([[-1.0, 2.5, 0.3], [0.2, -2.0, 1.0], [3.0, 0.7, -3.0]], dtype=torch.float64)
OWN = {"<pad>": (0.2, 1.1, -0.7), "a": (-2.0, 0.4, 0.3), "b": (0.6, -0.9, 2.0)}


@pytest.fixture
def figure() -> KeyExplorer:
    return KeyExplorer()


def config(figure: KeyExplorer) -> dict:
    return json.loads(unescape(re.search(r'config="([^"]*)"', figure.html())[1]))


def test_the_lectures_key_matrix_stretches_the_second_number_of_each_key(figure):
    keys = torch.tensor([[0.5, 1.0, 0.1], [0.9, 0.2, 0.1], [0.1, 1.8, 0.1]], dtype=torch.float64)
    torch.testing.assert_close(figure.keys(STRETCH), keys)


def test_the_score_of_dog_rises_and_its_weight_falls(figure):
    before, now = figure.scores(IDENTITY)[0], figure.scores(STRETCH)[0]
    assert before[1:].tolist() == pytest.approx([0.51, 0.51])
    assert now[1:].tolist() == pytest.approx([0.56, 0.96])
    assert figure.weights(IDENTITY).tolist() == pytest.approx([0.5, 0.5])
    weight = 1 / (1 + math.exp(0.4))
    assert figure.weights(STRETCH).tolist() == pytest.approx([weight, 1 - weight])
    assert figure.weights(STRETCH).tolist() == pytest.approx([0.4013, 0.5987], abs=5e-5)
    assert figure.weights(STRETCH, scaled=True).tolist() == pytest.approx(
        [0.4425, 0.5575], abs=5e-5
    )


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("everyone", [False, True])
@pytest.mark.parametrize("vectors", [THREE_VECTORS, OWN])
def test_weights_are_those_of_attention_with_raw_queries_and_projected_keys(
    vectors, everyone, scaled
):
    figure = KeyExplorer(vectors)
    query, key, value = Projections.from_matrices(IDENTITY, OTHER, IDENTITY)(figure.x)
    keys = slice(0 if everyone else 1, 3)
    scale = 1 / math.sqrt(3) if scaled else 1
    want = attend(query[:1], key[keys], value[keys], scale=scale).weights[0]
    torch.testing.assert_close(figure.weights(OTHER, everyone=everyone, scaled=scaled), want)
    torch.testing.assert_close(figure.keys(OTHER), figure.x @ OTHER)
    torch.testing.assert_close(
        figure.scores(OTHER, scaled=scaled), figure.x @ (figure.x @ OTHER).T * scale
    )


def test_only_the_shift_of_the_three_presets_breaks_the_symmetry(figure):
    for name, matrix in config(figure)["presets"]:
        table = figure.scores(matrix)
        gap = (table - table.T).abs().max().item()
        assert gap == pytest.approx(0.64 if name == "cyclic shift" else 0, abs=1e-12)
    table = figure.scores(SHIFT)
    assert (table[1, 2].item(), table[2, 1].item()) == pytest.approx((0.19, 0.83))


def test_the_figure_starts_with_the_lectures_matrix_among_three_presets(figure):
    made = config(figure)
    assert torch.equal(torch.tensor(made["w"]), torch.tensor(STRETCH))
    presets = dict(made["presets"])
    assert list(presets) == ["identity", "diag(1, 2, 1)", "cyclic shift"]
    assert presets["identity"] == IDENTITY.tolist()
    assert presets["diag(1, 2, 1)"] == made["w"]
    assert presets["cyclic shift"] == SHIFT.tolist()


def test_the_right_answer_of_the_question_is_right(figure):
    assert figure.predict.show == {"w": (2 * IDENTITY).tolist()}
    doubled = figure.predict.show["w"]
    assert figure.scores(doubled)[0, 1].item() == pytest.approx(1.02)
    assert figure.weights(doubled).tolist() == pytest.approx(figure.weights(IDENTITY).tolist())
    assert figure.predict.options[figure.predict.answer] == "stays"
    assert "1.02" in figure.predict.ask
    assert "1.02" in figure.predict.why


def test_both_its_of_the_sentence_have_one_row(figure):
    twice = figure.x[[0, 1, 2, 0]]
    query, key, value = Projections.from_matrices(IDENTITY, OTHER, IDENTITY)(twice)
    weights = attend(query, key, value).weights
    assert torch.equal(weights[0], weights[3])
    assert "Both “it”" in config(figure)["note"]


def test_the_fallback_holds_keys_rows_and_scores(figure):
    html = figure.html()
    cells = re.findall(r"<td>([^<]*)</td>", html)
    assert cells[:9] == ["0.5", "1.0", "0.1", "0.9", "0.2", "0.1", "0.1", "1.8", "0.1"]
    assert cells[9:17] == ["0.51", "0.51", "0.56", "0.96", "0.50", "0.50", "0.40", "0.60"]
    assert cells[17:] == ["0.76", "0.56", "0.96", "0.56", "0.84", "0.28", "0.96", "0.28", "1.64"]
    assert html == KeyExplorer().html()


def test_words_of_ones_own_are_asked_nothing_and_promised_nothing():
    figure = KeyExplorer(OWN)
    assert figure.predict is None
    assert config(figure)["note"] == ""
    assert "dog" not in figure.html()
    assert "<pad>" not in figure.html()


def test_the_lectures_words_in_another_order_are_words_of_ones_own():
    order = dict(reversed(THREE_VECTORS.items()))
    assert KeyExplorer(order).predict is None
    assert KeyExplorer({word: list(row) for word, row in THREE_VECTORS.items()}).predict


@pytest.mark.parametrize(
    "vectors",
    [
        {"a": (1, 0, 0), "b": (0, 1, 0)},
        {"a": (1, 0), "b": (0, 1), "c": (1, 1)},
        {"a": (1, 0, 0), "b": (0, 1, 0), "c": (0, 0, 2.1)},
        {"a": (1, 0, 0), "b": (0, 1, 0), "c": (0, 0, math.nan)},
    ],
)
def test_vectors_that_cannot_be_drawn_are_refused(vectors):
    with pytest.raises(ValueError, match="must"):
        KeyExplorer(vectors)
