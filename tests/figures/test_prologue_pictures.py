"""The prologue's pictures and its widget: what they refuse, and that they show what was given."""

import html
import json
import re
from pathlib import Path

import pytest
import torch

from lessons_pkg.corpus.vocabulary import Vocabulary
from lessons_pkg.figures.prologue import fading, growing, tangent
from lessons_pkg.figures.prologue_widgets import embedding_explorer, look_up

WORDS = {"name": "fig-p", "alt": "a picture", "caption": "A <picture>."}
AXES = {"xlabel": "words back", "ylabel": "gradient"}


def a_tangent(at=3.0, slope=24.0):
    return tangent(lambda x: (2 * x) ** 2, at, slope, low=0.0, high=5.0, **WORDS)


def a_fading(**series):
    return fading([1, 2, 3], series or {"one": [1.0, 0.1, 0.01]}, **AXES, **WORDS)


@pytest.mark.parametrize("make", [a_tangent, a_fading, lambda: a_growing()])
def test_a_second_run_gives_the_same_bytes_with_alt_and_escaped_caption(make):
    page = make().to_html()
    assert page == make().to_html()
    assert 'aria-label="a picture"' in page
    assert "A &lt;picture&gt;." in page


def path_ends(page):
    """The first and last point of the dashed line of the wide drawing."""
    wide = re.search(r'<svg class="wide".*?</svg>', page, flags=re.DOTALL)[0]
    dashed = re.search(r'<path d="([^"]+)"[^>]*stroke-dasharray[^>]*>', wide)[1]
    numbers = [float(n) for n in re.findall(r"-?\d+\.?\d*", dashed)]
    return numbers[:2], numbers[-2:]


def test_a_steeper_slope_draws_a_steeper_line():
    (x0, y0), (x1, y1) = path_ends(a_tangent(slope=24.0).to_html())
    (u0, v0), (u1, v1) = path_ends(a_tangent(slope=12.0).to_html())
    assert (y0 - y1) / (x1 - x0) > (v0 - v1) / (u1 - u0) > 0


@pytest.mark.parametrize("at", [0.0, 5.0, 7.0])
def test_a_point_outside_the_drawing_is_refused(at):
    with pytest.raises(ValueError, match="at must lie between 0 and 5"):
        a_tangent(at=at)


def test_every_series_is_drawn_under_its_name():
    page = a_fading(recurrent=[1.0, 0.1, 0.01], attention=[0.3, 0.4, 0.2]).to_html()
    assert page.count(">recurrent<") == page.count(">attention<") == 2  # wide and narrow


def written(page, screen):
    """The texts of one of the two drawings."""
    drawing = re.search(rf'<svg class="{screen}".*?</svg>', page, flags=re.DOTALL)[0]
    return re.findall(r"<text[^>]*>([^<]*)</text>", drawing)


@pytest.mark.parametrize("screen", ["wide", "narrow"])
def test_powers_of_ten_are_written_as_a_reader_writes_them(screen):
    # No distance is 1, or a label of the lower axis could stand in for the power 0.
    page = fading([20, 30, 40], {"one": [1.0, 1e-20, 1e-40]}, **AXES, **WORDS).to_html()
    texts = written(page, screen)
    powers = [text for text in texts if text == "1" or (text.startswith("10") and text != "10")]
    assert powers == ["1", "10⁻¹⁰", "10⁻²⁰", "10⁻³⁰", "10⁻⁴⁰"]
    assert "mathdefault" not in page


@pytest.mark.parametrize("bad", [[1.0, 0.0, 1.0], [1.0, -1.0, 1.0], [1.0, float("inf"), 1.0]])
def test_a_value_that_has_no_logarithm_is_refused(bad):
    with pytest.raises(ValueError, match="not positive and finite"):
        a_fading(one=bad)


def test_a_series_of_another_length_is_refused():
    with pytest.raises(ValueError, match="2 values for 3 distances"):
        a_fading(one=[1.0, 2.0])


def a_growing(counts=(1, 2, 4), **series):
    return growing(counts, series or {"loop": [1, 2, 4], "table": [3, 3, 3]}, **AXES, **WORDS)


def line(page, colour):
    """The points of the wide drawing's line of one colour."""
    wide = re.search(r'<svg class="wide".*?</svg>', page, flags=re.DOTALL)[0]
    path = re.search(rf'<path d="([^"]+)"[^>]*stroke: var\(--at-{colour},[^>]*>', wide)[1]
    numbers = [float(n) for n in re.findall(r"-?\d+\.?\d*", path)]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def test_what_grows_evenly_is_a_straight_line_and_what_stays_is_level():
    page = a_growing().to_html()
    (x0, y0), (x1, y1), (x2, y2) = line(page, "ink")
    assert x0 < x1 < x2 and y0 > y1 > y2
    assert (y1 - y2) / (x2 - x1) == pytest.approx((y0 - y1) / (x1 - x0), rel=1e-4)
    assert len({y for _, y in line(page, "s2")}) == 1


@pytest.mark.parametrize("screen", ["wide", "narrow"])
def test_what_grows_is_named_at_its_line_and_both_axes_begin_at_nothing(screen):
    texts = written(a_growing().to_html(), screen)
    assert texts.count("loop") == texts.count("table") == 1
    assert texts.count("0") == 2


@pytest.mark.parametrize("counts", [(1,), (0, 1, 2), (1, 1, 2), (3, 2, 1)])
def test_counts_that_do_not_rise_from_one_are_refused(counts):
    with pytest.raises(ValueError, match="rising from 1 or more"):
        a_growing(counts)


@pytest.mark.parametrize("bad", [[1, -2, 3], [1, float("inf"), 2], [1, float("nan"), 2]])
def test_what_cannot_be_waited_for_is_refused(bad):
    with pytest.raises(ValueError, match="below 0 or not finite"):
        a_growing(loop=bad)
    with pytest.raises(ValueError, match="2 values for 3 counts"):
        a_growing(loop=[1, 2])


# --- the widget -----------------------------------------------------------------------------------


def test_each_token_gets_the_row_of_its_id():
    vocabulary = Vocabulary.build(["your cat is a lovely cat"])
    table = torch.arange(len(vocabulary) * 3.0).reshape(-1, 3)
    found = look_up("a cat is a parrot", vocabulary, table)
    assert found.tokens == ("a", "cat", "is", "a", "parrot")
    assert found.unknown == ("parrot",)
    assert found.ids[4] == vocabulary.id_of("<unk>")
    for number, row in zip(found.ids, found.rows, strict=True):
        assert torch.equal(row, table[number])


def test_a_table_of_another_length_is_refused():
    vocabulary = Vocabulary.build(["your cat"])
    with pytest.raises(ValueError, match="one row for each"):
        look_up("cat", vocabulary, torch.rand(2, 3))


@pytest.mark.parametrize("bad", ["", "  ", "cat " * 65])
def test_a_bad_sentence_is_reported_and_the_last_good_result_stays(bad):
    text, _, message, result = embedding_explorer().children
    good = result.value
    text.value = "bad"
    text.value = bad
    assert "Error." in message.value
    assert result.value != good
    text.value = "your cat is a lovely cat"
    assert message.value == "" and result.value == good


def test_the_widget_shows_ids_and_names_unknown_words_until_they_are_learned():
    text, grow, _, result = embedding_explorer().children
    assert "6 tokens, 5 different ids" in result.value
    assert "Every word is known." in result.value
    text.value = "your dog is a lovely parrot"
    assert "6 tokens, 5 different ids" in result.value
    assert "“dog”, “parrot”" in result.value
    grow.value = True
    assert "6 tokens, 6 different ids" in result.value
    assert "Every word is known." in result.value


def test_the_widget_starts_with_the_table_that_the_prologue_prints():
    book = Path(__file__).resolve().parents[2] / "book/00_before_attention.ipynb"
    cells = json.loads(book.read_text(encoding="utf-8"))["cells"]
    outputs = ["".join(o.get("text", "")) for c in cells for o in c.get("outputs", [])]
    printed = next(text for text in outputs if text.startswith("embedded  (6 × 4)"))
    shown = re.findall(r"<td>(\d\.\d\d)</td>", embedding_explorer().children[3].value)
    assert len(shown) == 24
    assert re.findall(r"\d\.\d\d", printed) == shown


def test_every_control_has_a_description():
    assert all(control.description for control in embedding_explorer().children[:2])


def test_words_with_angle_brackets_are_escaped():
    text, _, _, result = embedding_explorer().children
    text.value = "<b>x</b> cat"
    assert "<b>" not in result.value
    assert "<" in html.unescape(result.value)
