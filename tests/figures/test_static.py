"""Static figures: what the page receives."""

import re
import warnings

import pytest

from lessons_pkg.figures.numbers import RoundingTie
from lessons_pkg.figures.static import (
    LIGHT,
    Plot,
    label_ends,
    ramp,
    score_map,
    vector_plane,
    weight_map,
)

WORDS = ("it", "dog", "<pad>")
WEIGHTS = [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.33, 0.33, 0.34]]
TEXT = {"alt": "a map", "caption": "A <map>."}


def lines(ax):
    ax.plot([0, 1], [0, 1])
    ax.plot([0, 1], [0, 1.001])
    label_ends(ax, ["one", "two"])


def figures():
    return [
        weight_map(WEIGHTS, WORDS, name="fig-w", **TEXT),
        score_map([[-3.0, 2.0, 0.1]], ["it"], keys=WORDS, name="fig-s", **TEXT),
        vector_plane(
            {"it": (0.5, 0.5), "dog": (0.9, 0.1)}, context=(0.5, 0.5), name="fig-v", **TEXT
        ),
        Plot(lines, "two lines", name="fig-l"),
    ]


def page(plot):
    return plot._repr_mimebundle_()["text/html"]


def svgs(plot):
    return re.findall(r"<svg.*?</svg>", page(plot), flags=re.DOTALL)


@pytest.fixture(params=range(4), ids=["weights", "scores", "vectors", "lines"])
def plot(request):
    return figures()[request.param]


def test_a_second_run_gives_the_same_bytes(plot, request):
    again = figures()[request.node.callspec.params["plot"]]
    assert page(plot) == page(again) == page(plot)


def test_a_wide_and_a_narrow_drawing_are_there_and_neither_holds_a_style_element(plot):
    wide, narrow = svgs(plot)
    assert 'class="wide"' in wide and 'class="narrow"' in narrow
    assert "<style" not in wide + narrow
    assert "<metadata" not in wide + narrow


def test_ids_are_unique_and_carry_the_figure_name(plot):
    ids = re.findall(r'\bid="([^"]+)"', page(plot))
    assert len(ids) == len(set(ids))
    assert all(found == plot.name or found.startswith(f"{plot.name}-") for found in ids)


def test_every_reference_has_its_target(plot):
    text = page(plot)
    ids = set(re.findall(r'\bid="([^"]+)"', text))
    references = set(re.findall(r"url\(#([^)]+)\)|href=\"#([^\"]+)\"", text))
    assert {first or second for first, second in references} <= ids


def test_every_colour_in_the_drawing_is_a_css_variable(plot):
    for svg in svgs(plot):
        bare = re.sub(r"var\(--at-[a-z0-9]+,[^)]*\)", "", svg)
        assert not re.findall(r"#[0-9a-fA-F]{3,6}\b(?=[;\" ])", bare)
        # A <text> without a fill is black in both themes.
        assert all("fill:" in tag for tag in re.findall(r"<text[^>]*>", svg))


def test_text_uses_the_font_of_the_page(plot):
    svg = "".join(svgs(plot))
    assert "var(--at-font" in svg
    assert "DejaVu" not in svg


def test_drawing_gives_no_warning_even_for_glyphs_the_font_lacks(plot):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page(plot)
        page(weight_map([[1.0]], ["猫$_x$"], name="fig-g", **TEXT))


def test_no_figure_is_left_with_pyplot(plot):
    import matplotlib.pyplot as plt

    page(plot)
    assert plt.get_fignums() == []


def test_a_dollar_sign_stays_text():
    assert "$x_1$" in page(weight_map([[1.0]], ["$x_1$"], name="fig-d", **TEXT))


def test_caption_and_alt_are_escaped():
    text = page(Plot(lines, 'a "<b>"', "x < y"))
    assert 'aria-label="a &quot;&lt;b&gt;&quot;"' in text
    assert "<figcaption>x &lt; y</figcaption>" in text


@pytest.mark.parametrize("alt", ["", "  "])
def test_an_empty_alt_is_refused(alt):
    with pytest.raises(ValueError, match="alt"):
        Plot(lines, alt)


@pytest.mark.parametrize("name", ["", "1st", "a b", 'a"b'])
def test_a_name_that_is_no_id_is_refused(name):
    with pytest.raises(ValueError, match="name"):
        Plot(lines, "two lines", name=name)


def test_each_cell_shows_its_number_and_its_colour_follows_the_theme():
    wide, _ = svgs(weight_map(WEIGHTS, WORDS, name="fig-w", **TEXT))
    assert re.findall(r">(0\.\d\d)<", wide) == [
        f"{weight:.2f}" for row in WEIGHTS for weight in row
    ]
    assert wide.count("color-mix(in oklab, color-mix") == 9
    assert "clamp(0,(0.800 - var(--at-wx" in wide


def test_negative_scores_use_the_other_ramp_and_a_true_minus():
    plot = score_map([[-3.0, 2.0, 0.1]], ["it"], keys=WORDS, name="fig-s", **TEXT)
    wide, _ = svgs(plot)
    assert "−3.00" in wide and "-3.00" not in wide
    assert wide.count("--at-nm") == 1
    assert ">−3.00<span" in page(plot) and "</span>3.00<" in page(plot)


def test_numbers_are_left_out_where_the_cells_are_too_small():
    words = [f"w{i}" for i in range(11)]
    plot = weight_map([[0.09] * 11] * 11, words, name="fig-b", **TEXT)
    wide, narrow = svgs(plot)
    assert wide.count(">0.09<") == 121
    assert narrow.count(">0.09<") == 0


def test_a_weight_near_a_rounding_tie_is_refused():
    with pytest.raises(RoundingTie):
        page(weight_map([[0.125]], ["it"], name="fig-t", **TEXT))


@pytest.mark.parametrize("bad", [[[1.2]], [[-0.1]], [[float("nan")]], [[0.5, 0.5]], [], [[]]])
def test_a_matrix_that_is_no_map_of_weights_is_refused(bad):
    with pytest.raises(ValueError):
        weight_map(bad, ["it"], name="fig-x", **TEXT)


def test_the_ramp_ends_at_its_anchors_and_darkens():
    def as_hex(rgb):
        return "#" + "".join(f"{round(255 * channel):02x}" for channel in rgb)

    assert as_hex(ramp("weight", 0)) == LIGHT["w0"]
    assert as_hex(ramp("weight", 0.5)) == LIGHT["wm"]
    assert as_hex(ramp("negative", 1)) == LIGHT["n1"]
    sums = [sum(ramp("weight", t / 10)) for t in range(11)]
    assert sums == sorted(sums, reverse=True)
    with pytest.raises(ValueError):
        ramp("weight", 1.01)


def test_names_at_line_ends_keep_their_distance():
    svg, _ = svgs(Plot(lines, "two lines"))
    heights = [float(re.search(rf'y="([\d.]+)"[^>]*>{name}<', svg)[1]) for name in ("one", "two")]
    assert abs(heights[0] - heights[1]) >= 15.9


def test_vectors_at_the_same_place_have_labels_apart():
    plot = vector_plane({"a": (1, 1), "b": (1, 1), "c": (0, 0)}, name="fig-v", **TEXT)
    svg, _ = svgs(plot)
    heights = {float(re.search(rf'y="([\d.]+)"[^>]*>{name}<', svg)[1]) for name in "ab"}
    assert max(heights) - min(heights) >= 15.9


@pytest.mark.parametrize("bad", [{}, {"a": (1.0,)}, {"a": (1.0, float("inf"))}])
def test_vectors_that_cannot_be_drawn_are_refused(bad):
    with pytest.raises(ValueError):
        vector_plane(bad, name="fig-v", **TEXT)
