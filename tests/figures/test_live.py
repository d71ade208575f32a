"""What a live figure writes into a page, without a browser."""

import json
import re
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest

from lessons_pkg.attention.dot_product import attend
from lessons_pkg.figures.live import (
    DOG_TWICE,
    SCRIPTS,
    STYLES,
    LiveFigure,
    Predict,
    ThreeVectors,
    TokenOrder,
    inline_script,
)
from lessons_pkg.figures.numbers import fixed
from lessons_pkg.lectures import DREAM_TOKENS, DREAM_VECTORS, THREE_VECTORS


class Reader(HTMLParser):
    """Collects the first element's attributes and the text of every table cell."""

    def __init__(self) -> None:
        super().__init__()
        self.first: dict[str, str | None] = {}
        self.cells: list[str] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.first = self.first or dict(attrs)
        self.inside = tag == "td"

    def handle_endtag(self, tag: str) -> None:
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.cells.append(data)


def read(html: str) -> tuple[dict, list[str]]:
    reader = Reader()
    reader.feed(html)
    return json.loads(reader.first["config"] or ""), reader.cells


@pytest.fixture(params=["three", "order"])
def figure(request: pytest.FixtureRequest) -> LiveFigure:
    if request.param == "three":
        return ThreeVectors(THREE_VECTORS)
    return TokenOrder(DREAM_TOKENS, DREAM_VECTORS)


def test_in_the_book_a_figure_brings_no_script(figure, monkeypatch):
    monkeypatch.setenv("LESSONS_BOOK", "1")
    assert "<script" not in figure._repr_mimebundle_()["text/html"]


def test_outside_the_book_a_figure_brings_one_script_with_style_and_code(figure, monkeypatch):
    monkeypatch.delenv("LESSONS_BOOK", raising=False)
    html = figure._repr_mimebundle_()["text/html"]
    assert html.count("<script>") == html.count("</script>") == 1
    for tag in ("at-three-vectors", "at-token-order", "courseFigures", "at-css"):
        assert tag in html.split("<script>")[1]


def test_without_its_script_the_output_is_the_books(figure, monkeypatch):
    monkeypatch.delenv("LESSONS_BOOK", raising=False)
    live = figure._repr_mimebundle_()["text/html"]
    monkeypatch.setenv("LESSONS_BOOK", "1")
    book = figure._repr_mimebundle_()["text/html"]
    assert re.sub(r"(?s)<script>.*?</script>", "", live).strip() == book


def test_two_runs_give_the_same_bytes(figure):
    again = type(figure)(
        *([THREE_VECTORS] if isinstance(figure, ThreeVectors) else [DREAM_TOKENS, DREAM_VECTORS])
    )
    assert figure._repr_mimebundle_() == again._repr_mimebundle_()


def test_the_bundle_has_html_and_plain_text(figure):
    bundle = figure._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    assert figure.title in bundle["text/plain"]


def test_three_vectors_fallback_holds_the_lectures_numbers():
    _, cells = read(ThreeVectors(THREE_VECTORS).html())
    assert cells[:3] == ["(0.5 × 0.5) + (0.5 × 0.5) + (0.1 × 0.1)", "0.51", "0.33"]
    assert cells[3:6] == ["(0.5 × 0.9) + (0.5 × 0.1) + (0.1 × 0.1)", "0.51", "0.33"]
    assert cells[-3:] == ["0.50", "0.50", "0.10"]


def test_token_order_fallback_holds_the_packages_numbers():
    figure = TokenOrder(DREAM_TOKENS, DREAM_VECTORS)
    context, weights = attend(figure.x, figure.x, figure.x, scale=3**-0.5)
    expected = [fixed(w, 3) for w in weights.flatten()]
    expected += [fixed(z, 2) for z in context.flatten()]
    expected += [fixed(z, 2) for z in context.mean(0)]
    assert read(figure.html())[1] == expected


def test_config_survives_words_that_look_like_markup():
    figure = ThreeVectors({"<pad>": (0, 0, 0), 'a"b': (1, 0, 0), "it": (0, 1, 0)}, predict=None)
    config, _ = read(figure.html())
    assert config["words"] == ["<pad>", 'a"b', "it"]
    assert "<pad>" not in figure.html()


def test_every_shuffle_is_a_permutation_that_moves_something():
    for order in TokenOrder(DREAM_TOKENS, DREAM_VECTORS).config()["shuffles"]:
        assert sorted(order) == list(range(6))
        assert order != list(range(6))


def test_the_question_about_dog_names_the_packages_numbers():
    assert "1.02" in DOG_TWICE.why and "0.51" in DOG_TWICE.why and "0.45" in DOG_TWICE.why
    assert DOG_TWICE.show["x"][1] == [1.8, 0.2, 0.2]


@pytest.mark.parametrize(
    "build",
    [
        lambda: ThreeVectors({"a": (0, 0, 0), "b": (0, 0, 0)}, query="a"),
        lambda: ThreeVectors({"a": (0, 0), "b": (0, 0), "c": (0, 0)}, query="a"),
        lambda: ThreeVectors({"a": (0, 0, 2.1), "b": (0, 0, 0), "c": (0, 0, 0)}, query="a"),
        lambda: ThreeVectors(THREE_VECTORS, query="cat"),
        lambda: ThreeVectors(THREE_VECTORS, id="a b"),
        lambda: TokenOrder(["a", "a"], [(0.0,), (1.0,)]),
        lambda: TokenOrder(["a", "b"], [(0.0,)]),
        lambda: TokenOrder(["a", "b"], [(0.0,), (1.0, 2.0)]),
        lambda: TokenOrder(["a", " "], [(0.0,), (1.0,)]),
        lambda: TokenOrder(["a", "b"], [(), ()]),
        lambda: Predict("?", ("one", " one"), 0, ""),
        lambda: Predict("?", ("one", " "), 0, ""),
        lambda: Predict("?", ("one",), 0, ""),
        lambda: Predict("?", ("one", "two"), 2, ""),
    ],
)
def test_a_figure_that_cannot_be_drawn_is_refused(build):
    with pytest.raises(ValueError, match=r"must|options"):
        build()


@pytest.mark.parametrize("answer", [True, 1.0, "1"])
def test_a_right_answer_that_is_no_index_is_refused(answer):
    with pytest.raises(TypeError, match="answer must be an index"):
        Predict("?", ("one", "two"), answer, "")


def test_only_the_token_block_names_a_hex_colour():
    here = files("lessons_pkg.figures")
    css = here.joinpath("css", "figures.css").read_text(encoding="utf-8")
    rules = css[css.index("/* The theme puts a grey box") :]
    scripts = "".join(here.joinpath("js", name).read_text(encoding="utf-8") for name in SCRIPTS)
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b", rules + scripts) == []


def test_a_page_with_four_figures_loads_less_than_200_kb_of_our_own():
    here = files("lessons_pkg.figures")
    size = {
        name: len(here.joinpath(name.split(".")[1], name).read_bytes())
        for name in (*SCRIPTS, *STYLES)
    }
    heaviest = sorted((size[name] for name in SCRIPTS[1:]), reverse=True)[:4]
    assert size["base.js"] + sum(size[name] for name in STYLES) + sum(heaviest) <= 200_000


@pytest.mark.parametrize(("folder", "named"), [("js", SCRIPTS), ("css", STYLES)])
def test_each_script_and_style_is_named(folder, named):
    files_there = {path.name for path in files("lessons_pkg.figures").joinpath(folder).iterdir()}
    assert set(named) == files_there
    assert len(set(named)) == len(named)


def test_the_book_loads_the_base_and_every_style():
    config = (Path(__file__).resolve().parents[2] / "_config.yml").read_text(encoding="utf-8")
    places = [config.index(name) for name in STYLES]
    assert places == sorted(places)
    assert "[base.js," in config


@pytest.mark.parametrize("figure", LiveFigure.__subclasses__(), ids=lambda figure: figure.tag)
def test_a_figures_script_bears_the_name_of_its_tag(figure):
    name = figure.tag.removeprefix("at-").replace("-", "_") + ".js"
    assert name in SCRIPTS
    code = files("lessons_pkg.figures").joinpath("js", name).read_text(encoding="utf-8")
    assert f'customElements.define("{figure.tag}"' in code
    own = inline_script(figure.tag)
    assert code in own and own.count("customElements.define(") == 1


def test_the_lectures_questions_are_not_asked_of_other_words():
    assert "predict" not in read(TokenOrder(["a", "b"], [[0.1, 0.2], [0.3, 0.4]]).html())[0]
    other = {"x": (0.5, 0.5, 0.1), "y": (0.9, 0.1, 0.1), "z": (0.1, 0.9, 0.1)}
    assert "predict" not in read(ThreeVectors(other, query="x").html())[0]
