"""The map of the attention family: one tree, shown as two drawings and a list."""

import re
from html.parser import HTMLParser
from itertools import combinations
from xml.etree import ElementTree

import pytest

from lessons_pkg.figures.family_map import FAMILY, ROOT, family_map

NODES = [ROOT, *(node for group in FAMILY for node in group.nodes)]
IDS = [node.id for node in NODES]
CHAPTERS = {  # what the syllabus says, and not what the map says
    "before": 0,
    "dot": 1,
    "simplified": 1,
    "trainable": 2,
    "scaled": 3,
    "causal": 4,
    "padding": 4,
    "quadratic": 4,
    "kernels": 4,
    "multi-head": 5,
    "positions": 6,
    "cross": 7,
    "kv-cache": 9,
    "text": 0,
}
LETTER = 7.2  # px, an upper guess at 13 px
VOID = {"br", "hr", "img", "input", "link", "meta"}


def page(here):
    return family_map(here)._repr_mimebundle_()["text/html"]


def tree(here):
    return ElementTree.fromstring(page(here))


def drawing(here, screen):
    return next(svg for svg in tree(here).iter("svg") if svg.get("class") == screen)


def words(element):
    return " ".join(" ".join(element.itertext()).split())


def boxes(svg):
    """Each node's id with its rectangle as (left, top, right, bottom), and its element."""
    found = {}
    for group in svg.iter("g"):
        if name := group.get("data-node"):
            rect = group.find("rect")
            x, y, width, height = (float(rect.get(k)) for k in ("x", "y", "width", "height"))
            found[name] = ((x, y, x + width, y + height), group)
    return found


def apart(one, two):
    return one[2] <= two[0] or two[2] <= one[0] or one[3] <= two[1] or two[3] <= one[1]


def extent(text):
    """Where a line of text may reach, as (left, top, right, bottom)."""
    x, y, width = float(text.get("x")), float(text.get("y")), LETTER * len(text.text)
    left = x - width if "text-anchor:end" in text.get("style") else x
    return left, y - 12, left + width, y + 4


@pytest.fixture(params=IDS)
def here(request):
    return request.param


@pytest.fixture(params=["wide", "narrow"])
def screen(request):
    return request.param


def test_each_node_names_the_chapter_that_the_syllabus_gives_it_and_all_others_are_later():
    assert {node.id: node.chapter for node in NODES if node.chapter is not None} == CHAPTERS
    assert len(set(IDS)) == len(IDS)


def test_the_groups_of_the_lecture_are_there_with_their_members():
    members = {group.title: {node.id for node in group.nodes} for group in FAMILY}
    assert members == {
        "Scoring": {"additive", "dot", "scaled"},
        "Connectivity": {"simplified", "trainable", "causal", "padding", "cross"},
        "Heads": {"multi-head", "grouped-query", "latent"},
        "Cost": {"quadratic", "kv-cache", "sub-quadratic", "kernels"},
        "Positions": {"positions", "rotary"},
        "Domains": {"text", "image", "video", "graph"},
    }


def test_both_drawings_show_every_node_with_its_name_and_chapter(here, screen):
    shown = boxes(drawing(here, screen))
    assert sorted(shown) == sorted(IDS)
    for node in NODES[1:]:
        label = words(shown[node.id][1])
        assert label.startswith(node.name)
        place = "later" if node.id not in CHAPTERS else str(CHAPTERS[node.id])
        assert place in label[len(node.name) :].split()
    assert all(group.title in words(drawing(here, screen)) for group in FAMILY)
    assert "50 plus mechanisms" in words(shown["before"][1])


def test_each_drawing_marks_the_node_that_was_asked_for_and_no_other(here, screen):
    shown = boxes(drawing(here, screen))
    assert [name for name, (_, g) in shown.items() if g.get("data-here")] == [here]
    assert [name for name, (_, g) in shown.items() if "you are here" in words(g)] == [here]
    assert [
        name for name, (_, g) in shown.items() if "--at-hl," in g.find("rect").get("style")
    ] == [here]
    group = shown[here][1]
    assert "stroke-width:2" in group.find("rect").get("style")
    assert all("fill:var(--at-on-hl," in text.get("style") for text in group.findall("text"))


def test_the_list_has_the_same_tree_and_marks_the_same_node(here):
    details = tree(here).find("details")
    assert words(details.find("summary")) == "The map as a list"
    (root,) = details.findall("ul/li")
    assert words(root).startswith("The attention family: 50 plus mechanisms")
    groups = root.findall("ul/li")
    assert [item.text.split(":")[0] for item in groups] == [group.title for group in FAMILY]
    for item, group in zip(groups, FAMILY, strict=True):
        leaves = item.findall("ul/li")
        expected = [f"{node.name} ({node.place})" for node in group.nodes]
        assert [leaf.text.split(")")[0] + ")" for leaf in leaves] == expected
    marked = [item for item in details.iter("li") if item.get("aria-current")]
    assert len(marked) == 1 == words(details).count("you are here")
    name = next(node.name for node in NODES if node.id == here)
    assert marked[0].text.startswith(name)
    assert words(marked[0].find("strong")) == "you are here"


def test_no_box_meets_another_or_leaves_the_drawing(here, screen):
    svg = drawing(here, screen)
    _, _, width, height = map(float, svg.get("viewBox").split())
    rects = {name: rect for name, (rect, _) in boxes(svg).items()}
    for one, two in combinations(rects, 2):
        assert apart(rects[one], rects[two]), (one, two)
    for left, top, right, bottom in rects.values():
        assert left >= 1 and top >= 1 and right <= width - 1 and bottom <= height - 1


def test_each_text_fits_into_its_box_and_meets_no_other_text(here, screen):
    for (left, top, right, bottom), group in boxes(drawing(here, screen)).values():
        for text in group.findall("text"):
            a, b, c, d = extent(text)
            assert left + 6 <= a and c <= right - 6 and top <= b and d <= bottom, text.text
        for one, two in combinations(map(extent, group.findall("text")), 2):
            assert apart(one, two), words(group)


def test_the_titles_of_the_groups_stay_clear_of_boxes_and_columns(here, screen):
    svg = drawing(here, screen)
    rects = [rect for rect, _ in boxes(svg).values()]
    titles = [
        text for g in svg.findall("g") if not g.get("data-node") for text in g.findall("text")
    ]
    assert len(titles) == 2 * len(FAMILY)
    for one, two in combinations(map(extent, titles), 2):
        assert apart(one, two)
    assert all(apart(extent(text), rect) for text in titles for rect in rects)
    assert all(extent(text)[2] <= float(svg.get("viewBox").split()[2]) for text in titles)


def test_each_drawing_is_one_image_whose_name_says_where_we_are(here, screen):
    svg = drawing(here, screen)
    named = {e.get("id"): words(e) for tag in ("title", "desc") for e in svg.findall(tag)}
    assert svg.get("role") == "img"
    assert svg.get("aria-labelledby").split() == list(named)
    node = next(node for node in NODES if node.id == here)
    where = "chapter 0" if node is ROOT else f"{node.name}, {node.place}"
    said = " ".join(named.values())
    assert "You are here" in said and where in said


def test_ids_are_unique_and_begin_with_the_name_of_the_figure(here):
    ids = re.findall(r'\bid="([^"]+)"', page(here))
    assert len(set(ids)) == len(ids) > 4
    assert ids[0] == f"fig-map-{here}"
    assert all(name.startswith(ids[0]) for name in ids)


def test_two_maps_on_one_page_share_no_id():
    ids = [re.findall(r'\bid="([^"]+)"', page(here)) for here in ("causal", "padding")]
    assert not set(ids[0]) & set(ids[1])


def test_html_closes_every_element_that_it_opens(here):
    class Balance(HTMLParser):
        def __init__(self):
            super().__init__()
            self.open = []

        def handle_starttag(self, tag, attrs):
            if tag not in VOID:
                self.open.append(tag)

        def handle_endtag(self, tag):
            assert self.open.pop() == tag

    reader = Balance()
    reader.feed(page(here))
    reader.close()
    assert reader.open == []


def test_every_colour_is_a_token_of_the_stylesheet(here):
    text = page(here)
    assert not re.search(r"(?<!&)#[0-9a-fA-F]{3,8}\b(?!-)", re.sub(r"#fig-map-", "", text))
    for value in re.findall(r"\b(?:fill|stroke|background|color):([^;}\"]+)", text):
        assert value == "none" or re.fullmatch(r"var\(--at-[\w-]+,[A-Z]\w+\)", value), value


def test_no_text_is_smaller_than_13_px(here):
    sizes = [
        float(size)
        for size in re.findall(r"(\d+(?:\.\d+)?)px(?:/\d+px)? var\(--at-font", page(here))
    ]
    assert len(sizes) == 3 and min(sizes) >= 13
    assert "font-size" not in page(here)


def test_one_drawing_gives_way_to_the_other_before_its_text_shrinks():
    text = page("dot")
    assert re.search(
        r"@container \(max-width:639px\)\{#fig-map-dot svg\.wide\{display:none\}", text
    )
    assert drawing("dot", "wide").get("viewBox").split()[2] == "640"
    assert float(drawing("dot", "narrow").get("viewBox").split()[2]) <= 350


def test_a_second_map_has_the_same_bytes(here):
    assert family_map(here)._repr_mimebundle_() == family_map(here)._repr_mimebundle_()


def test_the_plain_text_has_each_node_and_one_mark(here):
    lines = family_map(here)._repr_mimebundle_()["text/plain"].splitlines()
    assert len(lines) == len(NODES) + len(FAMILY)
    marked = [line for line in lines if "you are here" in line]
    name = next(node.name for node in NODES if node.id == here)
    assert len(marked) == 1 and marked[0].strip().startswith(name)


@pytest.mark.parametrize("wrong", ["", "Dot", "scoring", "softmax"])
def test_an_unknown_place_is_refused_and_the_known_ones_are_named(wrong):
    with pytest.raises(ValueError, match="got") as error:
        family_map(wrong)
    assert all(name in str(error.value) for name in IDS)
