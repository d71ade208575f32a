"""The pipeline from X to Z: shapes that are those of real tensors, in two drawings and a list."""

import re
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest
import torch

from lessons_pkg.attention.dot_product import attend, scores
from lessons_pkg.attention.projections import Projections
from lessons_pkg.figures.pipeline import pipeline
from lessons_pkg.lectures import BALL_TOKENS, BALL_VECTORS, BALL_W_K, BALL_W_Q, BALL_W_V

NAMES = ["X", "W_Q", "W_K", "W_V", "Q", "K", "V", "scores", "weights", "Z"]
LEARNED = ["W_Q", "W_K", "W_V"]
STAGES = {
    "query": "Q",
    "key": "K",
    "value": "V",
    "scores": "scores",
    "weights": "weights",
    "context": "Z",
}
SIZES = [
    (5, 3, 2, 2),
    (1, 1, 1, 1),
    (8, 8, 8, 8),
    (7, 5, 3, 2),
    (2, 3, 5, 7),
    (1, 8, 1, 8),
    (8, 1, 8, 1),
    (5, 3, 4, 2),
    (3, 7, 1, 5),
]
LETTER = 7.2  # px, an upper guess at 13 px


def page(*sizes, **more):
    return pipeline(*sizes, **more)._repr_mimebundle_()["text/html"]


def tree(*sizes, **more):
    return ElementTree.fromstring(page(*sizes, **more))


def drawing(screen, *sizes, **more):
    return next(svg for svg in tree(*sizes, **more).iter("svg") if svg.get("class") == screen)


def grids(svg):
    """Each matrix's element by its name."""
    return {g.get("data-matrix"): g for g in svg.iter("g") if g.get("data-matrix")}


def words(element):
    return " ".join(" ".join(element.itertext()).split())


def cells(grid):
    """The cells of a matrix as (rows, columns), counted by their places."""
    rects = next(g for g in grid.iter("g") if g.get("data-cells")).findall("rect")
    ys, xs = ({float(rect.get(k)) for rect in rects} for k in ("y", "x"))
    assert len(rects) == len(xs) * len(ys)
    return len(ys), len(xs)


def extent(text):
    """Where a line of text may reach, as (left, top, right, bottom)."""
    x, y = float(text.get("x")), float(text.get("y"))
    width = LETTER * len("".join(text.itertext()))
    anchor = re.search(r"text-anchor:(\w+)", text.get("style"))[1]
    left = x - {"start": 0, "middle": width / 2, "end": width}[anchor]
    return left, y - 11, left + width, y + 3


def pieces(grid):
    """A matrix's frame and its texts, each as (left, top, right, bottom)."""
    x, y, width, height = (
        float(grid.findall("rect")[-1].get(k)) for k in ("x", "y", "width", "height")
    )
    return [(x, y, x + width, y + height), *map(extent, grid.findall("text"))]


def box(grid):
    """What a matrix's frame and texts span together."""
    lefts, tops, rights, bottoms = zip(*pieces(grid), strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def apart(one, two):
    return one[2] <= two[0] or two[2] <= one[0] or one[3] <= two[1] or two[3] <= one[1]


def lines_of(path):
    """The straight pieces of a path, as thin boxes."""
    x = y = 0.0
    for letter, numbers in re.findall(r"([MHV])([\d. ]+)", path):
        before, values = (x, y), [float(number) for number in numbers.split()]
        if letter == "M":
            x, y = values
            continue
        x, y = (values[0], y) if letter == "H" else (x, values[0])
        yield min(before[0], x), min(before[1], y), max(before[0], x), max(before[1], y)


def lines(svg):
    """Every straight piece of every way, without the arrow heads."""
    for g in svg.iter("g"):
        if g.get("data-into"):
            yield from lines_of(g.find("path").get("d"))


def tensors(n, d, d_k, d_v):
    """The real matrices by name."""
    draw = torch.Generator().manual_seed(0)
    x, w_q, w_k, w_v = (
        torch.randn(*shape, generator=draw) for shape in ((n, d), (d, d_k), (d, d_k), (d, d_v))
    )
    q, k, v = Projections.from_matrices(w_q, w_k, w_v)(x)
    context, weights = attend(q, k, v, scale=d_k**-0.5)
    found = (x, w_q, w_k, w_v, q, k, v, scores(q, k), weights, context)
    return {name: tuple(tensor.shape) for name, tensor in zip(NAMES, found, strict=True)}


@pytest.fixture(params=SIZES, ids=str)
def sizes(request):
    return request.param


@pytest.fixture(params=["wide", "narrow"])
def screen(request):
    return request.param


def test_the_cells_of_each_matrix_are_the_shape_of_the_real_tensor(sizes, screen):
    shown = grids(drawing(screen, *sizes))
    assert {name: cells(grid) for name, grid in shown.items()} == tensors(*sizes)


def test_the_shape_under_each_matrix_is_that_of_the_real_tensor(sizes, screen):
    for name, grid in grids(drawing(screen, *sizes)).items():
        rows, cols = tensors(*sizes)[name]
        texts = ["".join(text.itertext()) for text in grid.findall("text")]
        assert texts[:2] == [name.replace("_", ""), f"{rows} × {cols}"]


def test_what_a_screen_reader_hears_holds_every_shape(sizes, screen):
    svg = drawing(screen, *sizes)
    named = {e.get("id"): words(e) for tag in ("title", "desc") for e in svg.findall(tag)}
    assert svg.get("role") == "img"
    assert svg.get("aria-labelledby").split() == list(named)
    said = " ".join(named.values())
    for name, (rows, cols) in tensors(*sizes).items():
        learned = " (learned)" if name in LEARNED else ""
        assert f"{name}{learned} {rows} × {cols}" in said


def test_the_list_holds_every_shape_in_the_order_of_the_computation(sizes):
    items = tree(*sizes).findall("details/ol/li")
    assert words(tree(*sizes).find("details/summary")) == "The pipeline as a list"
    for item, (name, (rows, cols)) in zip(items, tensors(*sizes).items(), strict=True):
        text = "".join(item.itertext())
        assert text.startswith(name.replace("_", ""))
        assert f", {rows} × {cols}: " in text


def test_the_start_is_the_lecture_s_five_words_with_the_shapes_of_its_matrices(screen):
    svg = drawing(screen)
    (row,) = (g for g in svg.iter("g") if g.get("data-words"))
    assert tuple(text.text for text in row) == BALL_TOKENS
    rows = (BALL_VECTORS, BALL_W_Q, BALL_W_K, BALL_W_V)
    for name, matrix in zip(["X", *LEARNED], rows, strict=True):
        assert cells(grids(svg)[name]) == (len(matrix), len(matrix[0]))


def test_each_arrow_says_its_operation(screen):
    said = {}
    for g in drawing(screen, 5, 3, 7, 2).iter("g"):
        if into := g.get("data-into"):
            said[into] = said.get(into, "") + "".join(
                f"[{''.join(text.itertext())}]" for text in g.findall("text")
            )
    assert said == {
        "query": "[X WQ]",
        "key": "[X WK]",
        "value": "[X WV]",
        "scores": "[Q Kᵀ]",
        "weights": "[÷ √7][softmax]",
        "context": "[times V]",
    }


def test_only_learned_matrices_are_dashed_and_called_learned(sizes, screen):
    for name, grid in grids(drawing(screen, *sizes)).items():
        frame = grid.findall("rect")[-1]
        assert ("stroke-dasharray" in frame.get("style")) == (name in LEARNED)
        assert ("learned" in words(grid)) == (name in LEARNED)


def test_roles_have_their_colours_and_all_other_matrices_none(screen):
    for name, grid in grids(drawing(screen)).items():
        token = {"Q": "q", "K": "k", "V": "v", "Z": "c"}.get(name, "edge")
        (inside,) = (g for g in grid.iter("g") if g.get("data-cells"))
        assert f"stroke:var(--at-{token}," in inside.get("style")
        tinted = "fill-opacity:.18" in inside.get("style")
        assert tinted == (token != "edge")


@pytest.mark.parametrize("lit", STAGES)
def test_the_stage_that_was_asked_for_is_lit_and_no_other(lit, screen):
    svg = drawing(screen, lit=lit)
    shown = grids(svg)
    assert [name for name, g in shown.items() if g.get("data-lit")] == [STAGES[lit]]
    assert [
        name for name, g in shown.items() if "--at-hl," in ElementTree.tostring(g).decode()
    ] == [STAGES[lit]]
    ways = [g for g in svg.iter("g") if g.get("data-into")]
    assert len(ways) == 11
    assert {g.get("data-into") for g in ways if g.get("data-lit")} == {lit}
    assert f"Lit: {STAGES[lit]} = " in words(svg.find("title"))


@pytest.mark.parametrize("lit", STAGES)
def test_the_caption_and_the_list_name_the_lit_stage(lit):
    figure = tree(lit=lit)
    assert words(figure.find("figcaption")).startswith(f"Lit: {STAGES[lit]} = ")
    marked = [item for item in figure.iter("li") if item.get("aria-current")]
    assert len(marked) == 1 and marked[0].text.startswith(f"{STAGES[lit]} = ")
    assert words(marked[0].find("strong")) == "lit"
    plain = [line for line in repr(pipeline(lit=lit)).splitlines() if "<- lit" in line]
    assert len(plain) == 1 and plain[0].startswith(f"{STAGES[lit]} = ")


def test_without_a_lit_stage_nothing_is_marked():
    assert "data-lit" not in page() and "--at-hl" not in page() and "Lit" not in page()


def test_no_block_meets_another_or_leaves_the_drawing(sizes, screen):
    svg = drawing(screen, *sizes)
    _, _, width, height = map(float, svg.get("viewBox").split())
    found = {name: box(grid) for name, grid in grids(svg).items()}
    for one, two in combinations(found, 2):
        assert apart(found[one], found[two]), (one, two)
    for left, top, right, bottom in found.values():
        assert left >= 0 and top >= 0 and right <= width and bottom <= height


def test_no_text_meets_another_or_a_matrix_or_leaves_the_drawing(sizes, screen):
    svg = drawing(screen, *sizes, words=["m" * 12] * sizes[0])
    _, _, width, height = map(float, svg.get("viewBox").split())
    owned = {id(text) for grid in grids(svg).values() for text in grid.iter("text")}
    free = [text for text in svg.iter("text") if id(text) not in owned]
    taken = [piece for grid in grids(svg).values() for piece in pieces(grid)]
    for one, two in combinations(map(extent, free), 2):
        assert apart(one, two)
    for text in free:
        left, top, right, bottom = extent(text)
        assert left >= 0 and top >= 0 and right <= width and bottom <= height, text.text
        assert all(apart((left, top, right, bottom), piece) for piece in taken), text.text


def test_no_line_crosses_a_matrix_or_a_text(sizes, screen):
    svg = drawing(screen, *sizes)
    blocks = [box(grid) for grid in grids(svg).values()]
    texts = [extent(text) for text in svg.iter("text")]
    for left, top, right, bottom in lines(svg):
        line = (left + 0.5, top + 0.5, max(right, left + 1) - 0.5, max(bottom, top + 1) - 0.5)
        assert all(apart(line, other) for other in (*blocks, *texts)), line


def test_every_way_but_three_joins_ends_in_an_arrow_head(screen):
    heads = [
        "l" in g.find("path").get("d") for g in drawing(screen).iter("g") if g.get("data-into")
    ]
    assert (len(heads), sum(heads)) == (11, 9)


def test_every_arrow_has_a_straight_shaft_longer_than_its_head(sizes, screen):
    for g in drawing(screen, *sizes).iter("g"):
        path = g.find("path").get("d") if g.get("data-into") else ""
        if "l" not in path:
            continue
        *_, last = lines_of(path.split("m")[0])
        assert max(last[2] - last[0], last[3] - last[1]) >= 12, path


def test_one_drawing_gives_way_to_the_other_before_its_text_shrinks(sizes):
    text = page(*sizes)
    width = float(drawing("wide", *sizes).get("viewBox").split()[2])
    (limit,) = re.findall(r"@container \(max-width:([\d.]+)px\)", text)
    assert width - 0.2 < float(limit) < width <= 688
    assert float(drawing("narrow", *sizes).get("viewBox").split()[2]) <= 358


def test_the_start_fits_a_screen_of_320_px():
    assert float(drawing("narrow").get("viewBox").split()[2]) <= 288


def test_the_wide_drawing_goes_right_and_the_narrow_one_down():
    wide, narrow = (
        {name: box(grid) for name, grid in grids(drawing(screen)).items()}
        for screen in ("wide", "narrow")
    )
    steps = ["X", "W_K", "K", "scores", "weights", "Z"]
    for before, after in pairwise(steps):
        assert wide[before][2] < wide[after][0]
        assert narrow[before][3] < narrow[after][1]


def test_ids_are_unique_and_begin_with_the_id_of_the_figure():
    ids = re.findall(r'\bid="([^"]+)"', page(id="fig-other"))
    assert len(set(ids)) == len(ids) == 5
    assert ids[0] == "fig-other" and all(name.startswith(ids[0]) for name in ids)
    assert not set(ids) & set(re.findall(r'\bid="([^"]+)"', page()))


@pytest.mark.parametrize("lit", [None, "value"])
def test_every_colour_is_a_token_of_the_stylesheet(lit):
    text = page(lit=lit)
    assert not re.search(r"(?<!&)#[0-9a-fA-F]{3,8}\b(?!-)", re.sub(r"#fig-pipeline", "", text))
    for value in re.findall(r"\b(?:fill|stroke|background|color):([^;}\"]+)", text):
        assert value == "none" or re.fullmatch(r"var\(--at-[\w-]+,[A-Z]\w+\)", value), value


def test_no_text_is_smaller_than_13_px():
    sizes = [float(size) for size in re.findall(r"font(?:-size)?:(?:400 )?([\d.]+)px", page())]
    assert len(sizes) >= 3 and min(sizes) >= 13


def test_a_second_figure_has_the_same_bytes(sizes):
    assert page(*sizes) == page(*sizes)


def test_words_that_look_like_markup_are_shown_as_they_are(screen):
    svg = drawing(screen, n=2, words=["<pad>", "a_Q&b"])
    (row,) = (g for g in svg.iter("g") if g.get("data-words"))
    assert ["".join(text.itertext()) for text in row] == ["<pad>", "a_Q&b"]


@pytest.mark.parametrize("name", ["n", "d", "d_k", "d_v"])
@pytest.mark.parametrize("size", [0, -1, 9])
def test_a_size_out_of_range_is_refused_by_its_name(name, size):
    with pytest.raises(ValueError, match=rf"^{name} must be 1 to 8; got {size}\.$"):
        pipeline(**{name: size})


@pytest.mark.parametrize("size", [True, 2.0, "3", None])
def test_a_size_that_is_no_whole_number_is_refused(size):
    with pytest.raises(TypeError, match="d_v must be a whole number"):
        pipeline(d_v=size)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"words": ["a", "b"]}, "each of the n = 5 rows; got 2"),
        ({"n": 2, "words": BALL_TOKENS}, "each of the n = 2 rows; got 5"),
        ({"n": 1, "words": ["m" * 13]}, "1 to 12 letters"),
        ({"n": 1, "words": [" "]}, "1 to 12 letters"),
        ({"lit": "Q"}, "query, key, value, scores, weights, context"),
        ({"id": ""}, "id must"),
        ({"id": "1fig"}, "id must"),
        ({"id": 'a"b'}, "id must"),
    ],
)
def test_other_bad_arguments_are_refused_with_a_reason(given, message):
    with pytest.raises(ValueError, match=message):
        pipeline(**given)


def test_one_text_instead_of_a_list_of_words_is_refused():
    with pytest.raises(TypeError, match="list of words"):
        pipeline(n=3, words="the")


def test_a_ground_of_the_page_s_colour_lies_under_everything(screen):
    svg = drawing(screen)
    ground = svg[2]
    assert [ground.get("width"), ground.get("height")] == svg.get("viewBox").split()[2:]
    assert ground.get("style").startswith("fill:var(--at-bg,")
