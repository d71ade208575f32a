"""The prologue's pictures and its widget: what they refuse, and that they show what was given."""

import html
import re

import pytest
import torch

from lessons_pkg.corpus.vocabulary import Vocabulary
from lessons_pkg.figures.prologue import fading, tangent
from lessons_pkg.figures.prologue_widgets import embedding_explorer, look_up

WORDS = {"name": "fig-p", "alt": "a picture", "caption": "A <picture>."}
AXES = {"xlabel": "words back", "ylabel": "gradient"}


def a_tangent(at=3.0, slope=24.0):
    return tangent(lambda x: (2 * x) ** 2, at, slope, low=0.0, high=5.0, **WORDS)


def a_fading(**series):
    return fading([1, 2, 3], series or {"one": [1.0, 0.1, 0.01]}, **AXES, **WORDS)


@pytest.mark.parametrize("make", [a_tangent, a_fading])
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


def test_powers_of_ten_are_written_as_a_reader_writes_them():
    page = a_fading(one=[1.0, 1e-20, 1e-40]).to_html()
    assert ">1<" in page and ">10⁻²⁰<" in page and ">10⁻⁴⁰<" in page
    assert "mathdefault" not in page


@pytest.mark.parametrize("bad", [[1.0, 0.0, 1.0], [1.0, -1.0, 1.0], [1.0, float("inf"), 1.0]])
def test_a_value_that_has_no_logarithm_is_refused(bad):
    with pytest.raises(ValueError, match="not positive and finite"):
        a_fading(one=bad)


def test_a_series_of_another_length_is_refused():
    with pytest.raises(ValueError, match="2 values for 3 distances"):
        a_fading(one=[1.0, 2.0])


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


def test_every_control_has_a_description():
    assert all(control.description for control in embedding_explorer().children[:2])


def test_words_with_angle_brackets_are_escaped():
    text, _, _, result = embedding_explorer().children
    text.value = "<b>x</b> cat"
    assert "<b>" not in result.value
    assert "<" in html.unescape(result.value)
