"""The map of the attention family, with "you are here" [L6.1].

One tree, shown three ways: as an inline SVG for wide screens, as another for narrow ones, and as a
nested list. Sizes are in px; every colour is a token of figures.css, with a system colour behind it
for pages that do not have the stylesheet.
"""

import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["FAMILY", "ROOT", "FamilyMap", "Group", "Node", "family_map"]


@dataclass(frozen=True)
class Node:
    """One mechanism on the map.

    ``chapter`` is the chapter of this book that treats it, or ``None`` for later; ``note`` is said
    in the list only.
    """

    id: str
    name: str
    chapter: int | None = None
    note: str = ""

    @property
    def place(self) -> str:
        """The chapter in words: ``"chapter 3"`` or ``"later"``."""
        return "later" if self.chapter is None else f"chapter {self.chapter}"


@dataclass(frozen=True)
class Group:
    """A question that every attention mechanism answers, with some of the answers."""

    id: str
    title: str
    question: str
    nodes: tuple[Node, ...]


ROOT = Node("before", "The attention family", 0)
"""The root of the tree; ``"before"`` is where chapter 0 stands."""

KIN = "50 plus mechanisms"

FAMILY: tuple[Group, ...] = (
    Group(
        "scoring",
        "Scoring",
        "how is a pair scored?",
        (
            Node("additive", "additive: Bahdanau", note="the first attention in translation"),
            Node("dot", "dot product", 1),
            Node("scaled", "scaled dot product", 3),
        ),
    ),
    Group(
        "connectivity",
        "Connectivity",
        "who attends to whom?",
        (
            Node("simplified", "simplified", 1, "self-attention without weights of its own"),
            Node("trainable", "trainable Q, K, V", 2, "self-attention with three projections"),
            Node("causal", "causal mask", 4, "no token sees a later one"),
            Node("padding", "padding mask", 4, "no token sees the filling"),
            Node("cross", "cross-attention", 7, "two sequences; Bahdanau’s is one"),
        ),
    ),
    Group(
        "heads",
        "Heads",
        "how many at once?",
        (
            Node("multi-head", "multi-head", 5),
            Node("grouped-query", "grouped-query", note="heads share keys and values"),
            Node("latent", "multi-head latent", note="keys and values kept compressed"),
        ),
    ),
    Group(
        "cost",
        "Cost",
        "what does it take?",
        (
            Node("quadratic", "n² scores", 4, "one score for each pair of tokens"),
            Node("kernels", "fused GPU kernels", 4, "the same result, less memory traffic"),
            Node("kv-cache", "key–value cache", 9, "old keys and values are not computed again"),
            Node("sub-quadratic", "sub-quadratic", note="fewer than n² scores"),
        ),
    ),
    Group(
        "place",
        "Positions",
        "where is a token?",
        (
            Node("positions", "sine and cosine", 6, "added to the embeddings"),
            Node("rotary", "relative, rotary", note="positions that act on the scores"),
        ),
    ),
    Group(
        "domains",
        "Domains",
        "tokens made of what?",
        (
            Node("text", "text", 0),
            Node("image", "image"),
            Node("video", "video"),
            Node("graph", "graph"),
        ),
    ),
)
"""The six groups of the map, in reading order."""


def family_map(here: str) -> "FamilyMap":
    """Return the map of the attention family with one place marked "you are here".

    Args:
        here: The id of a node: ``"before"`` (the root), ``"dot"``, ``"trainable"``, ``"scaled"``,
            ``"causal"``, ``"padding"``, ``"multi-head"``, ``"positions"``, ``"cross"``,
            ``"kv-cache"`` or any other in :data:`FAMILY`.

    Returns:
        A :class:`FamilyMap`, which a notebook shows as inline SVG and list.

    Raises:
        ValueError: No node has this id; the message names the known ones.

    Source:
        Lecture 6 of The attention family [L6.1]; every chapter.
    """
    return FamilyMap(here)


class Box(NamedTuple):
    """A rectangle of a layout, with its top left corner."""

    x: float
    y: float
    width: float
    height: float


class Layout(NamedTuple):
    """Measures of one of the two drawings."""

    screen: str
    width: float
    columns: tuple[tuple[int, ...], ...]  # indices into FAMILY
    pad: float  # from the frame to the columns
    gap: float  # between columns
    indent: float  # from a group's title to its boxes
    stacked: bool  # the chapter on a line of its own

    @property
    def column(self) -> float:
        """Width of a column."""
        count = len(self.columns)
        return (self.width - 2 - 2 * self.pad - self.gap * (count - 1)) / count


WIDE = Layout("wide", 640, ((0, 3), (1, 4), (2, 5)), 12, 12, 10, False)
NARROW = Layout("narrow", 340, ((0, 2, 3), (1, 4, 5)), 8, 8, 8, True)

_LINE = 18.0  # px from one baseline to the next
_HERE = "you are here"

_BG = "var(--at-bg,Canvas)"
_CARD = "var(--at-card,Canvas)"
_INK = "var(--at-ink,CanvasText)"
_MUTED = "var(--at-muted,CanvasText)"
_EDGE = "var(--at-edge,GrayText)"
_GRID = "var(--at-grid,GrayText)"
_HL = "var(--at-hl,Mark)"
_ON_HL = "var(--at-on-hl,MarkText)"


class FamilyMap:
    """The map with one node marked; the same bytes on every call.

    Args:
        here: The id of the marked node.

    Raises:
        ValueError: No node has this id.
    """

    def __init__(self, here: str) -> None:
        known = {node.id: node for node in _nodes()}
        if here not in known:
            raise ValueError(f"here must be one of {', '.join(known)}; got {here!r}.")
        self.here = known[here]
        self.name = f"fig-map-{here}"

    def __repr__(self) -> str:
        """Return the tree as indented text."""
        lines = [f"{ROOT.name}: {KIN}{self._arrow(ROOT)}"]
        for group in FAMILY:
            lines.append(f"  {group.title}: {group.question}")
            for node in group.nodes:
                lines.append(f"    {node.name} ({node.place}){self._arrow(node)}")
        return "\n".join(lines)

    def to_html(self) -> str:
        """Return the map as HTML: two drawings, a caption and the list."""
        caption = f"{self._where()} Dashed frames are for later."
        return (
            f'<figure class="at-plot" id="{self.name}">{self._style()}'
            f"{self._svg(WIDE)}{self._svg(NARROW)}"
            f"<figcaption>{html.escape(caption)}</figcaption>{self._list()}</figure>"
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.to_html(), "text/plain": repr(self)}

    def _arrow(self, node: Node) -> str:
        return f"  <- {_HERE}" if node == self.here else ""

    def _where(self) -> str:
        if self.here == ROOT:
            return "You are here: at the root of the map, in chapter 0."
        return f"You are here: {self.here.name}, {self.here.place}."

    def _style(self) -> str:
        """Rules that hold on any page: one drawing at a time, and the list in the page's hand."""
        fig = f"#{self.name}"
        return (
            f"<style>{fig}{{container-type:inline-size;background:{_BG};color:{_INK}}}"
            f"{fig} svg{{display:block;width:100%;height:auto;max-width:640px}}"
            f"{fig} svg.narrow{{display:none;max-width:340px}}"
            f"@container (max-width:639px){{{fig} svg.wide{{display:none}}"
            f"{fig} svg.narrow{{display:block}}}}"
            f"{fig} details{{font:400 14px/20px var(--at-font,sans-serif)}}"
            f"{fig} summary{{padding:12px 0;cursor:pointer}}"
            f"{fig} ul{{margin:4px 0;padding-left:20px}}</style>"
        )

    def _svg(self, layout: Layout) -> str:
        boxes, height = arrange(layout, self.here)
        ids = f"{self.name}-{layout.screen}"
        drawn = [self._root(layout, boxes[ROOT.id], height)]
        drawn += [self._group(layout, group, boxes, ids) for group in FAMILY]
        groups = ", ".join(group.title.lower() for group in FAMILY)
        return (
            f'<svg class="{layout.screen}" viewBox="0 0 {layout.width:g} {height:g}" role="img" '
            f'aria-labelledby="{ids}-title {ids}-desc" '
            f'style="font:400 13px var(--at-font,sans-serif)">'
            f'<title id="{ids}-title">The map of the attention family. {self._where()}</title>'
            f'<desc id="{ids}-desc">A tree of {KIN} in six groups: {groups}. '
            f"The list under the map has every node.</desc>{''.join(drawn)}</svg>"
        )

    def _root(self, layout: Layout, box: Box, height: float) -> str:
        """The frame round the whole family, and its head."""
        marked = self.here == ROOT
        frame = _rect(Box(1, 1, layout.width - 2, height - 2), 6, f"fill:{_BG};stroke:{_GRID}")
        ink = _ON_HL if marked else _INK
        head = _rect(
            box,
            6,
            f"fill:{_HL};stroke:{_INK};stroke-width:2"
            if marked
            else f"fill:{_CARD};stroke:{_GRID}",
        )
        left, right, middle = box.x + layout.pad, box.x + box.width - layout.pad, box.y + 21
        lines = [_text(left, middle, ROOT.name, f"fill:{ink};font-weight:600")]
        kin = f"fill:{ink if marked else _MUTED}"
        lines.append(_text(right, middle, KIN, f"{kin};text-anchor:end"))
        if marked:
            lines.append(_text(left, middle + _LINE, _HERE, f"fill:{ink};font-weight:700"))
            lines.append(_text(right, middle + _LINE, ROOT.place, f"fill:{ink};text-anchor:end"))
        return frame + _node(ROOT, marked, head + "".join(lines))

    def _group(self, layout: Layout, group: Group, boxes: dict[str, Box], ids: str) -> str:
        top = boxes[group.id]
        spine = top.x + 1
        parts = [
            _text(top.x, top.y + 14, group.title, f"fill:{_INK};font-weight:600"),
            _text(top.x, top.y + 14 + _LINE, group.question, f"fill:{_MUTED}"),
        ]
        middles = [boxes[node.id].y + boxes[node.id].height / 2 for node in group.nodes]
        start = top.y + top.height
        ticks = "".join(f"M{spine:g} {y:g}h{layout.indent - 1:g}" for y in middles)
        line = f"M{spine:g} {start:g}V{middles[-1]:g}{ticks}"
        parts.append(f'<path d="{line}" style="fill:none;stroke:{_EDGE}"/>')
        for node, y in zip(group.nodes, middles, strict=True):
            if node == self.here:
                lit = f"M{spine:g} {start:g}V{y:g}h{layout.indent - 1:g}"
                parts.append(f'<path d="{lit}" style="fill:none;stroke:{_INK};stroke-width:2"/>')
        parts += [self._box(layout, node, boxes[node.id]) for node in group.nodes]
        return f'<g id="{ids}-{group.id}">{"".join(parts)}</g>'

    def _box(self, layout: Layout, node: Node, box: Box) -> str:
        marked, later = node == self.here, node.chapter is None
        ink = _ON_HL if marked else _MUTED if later else _INK
        if marked:
            look = f"fill:{_HL};stroke:{_INK};stroke-width:2"
        elif later:
            look = f"fill:{_BG};stroke:{_EDGE};stroke-dasharray:4 3"
        else:
            look = f"fill:{_CARD};stroke:{_EDGE}"
        left, right, y = box.x + 8, box.x + box.width - 8, box.y + 18
        parts = [_rect(box, 4, look), _text(left, y, node.name, f"fill:{ink}")]
        quiet = f"fill:{ink if marked else _MUTED}"
        if layout.stacked:
            y += _LINE
            parts.append(_text(left, y, node.place, quiet))
        else:
            short = node.place.replace("chapter", "ch.")
            parts.append(_text(right, y, short, f"{quiet};text-anchor:end"))
        if marked:
            parts.append(_text(left, y + _LINE, _HERE, f"fill:{ink};font-weight:700"))
        return _node(node, marked, "".join(parts))

    def _list(self) -> str:
        groups = "".join(
            f"<li>{group.title}: {html.escape(group.question)}"
            f"<ul>{''.join(self._item(node) for node in group.nodes)}</ul></li>"
            for group in FAMILY
        )
        marked = self.here == ROOT
        root = f"{ROOT.name}: {KIN}"
        return (
            f"<details><summary>The map as a list</summary><ul><li{_current(marked)}>"
            f"{root}{_badge(marked)}<ul>{groups}</ul></li></ul></details>"
        )

    def _item(self, node: Node) -> str:
        marked = node == self.here
        note = f": {html.escape(node.note)}" if node.note else ""
        return (
            f"<li{_current(marked)}>{html.escape(node.name)} ({node.place}){note}"
            f"{_badge(marked)}</li>"
        )


def arrange(layout: Layout, here: Node) -> tuple[dict[str, Box], float]:
    """Place the root, the titles of the groups and every node; return them with the height."""
    boxes = {ROOT.id: Box(1, 1, layout.width - 2, 52 if here == ROOT else 34)}
    start = boxes[ROOT.id].height + 15
    lowest = start
    for number, column in enumerate(layout.columns):
        x = 1 + layout.pad + number * (layout.column + layout.gap)
        y = start
        for index in column:
            group = FAMILY[index]
            boxes[group.id] = Box(x, y, layout.column, 2 * _LINE + 2)
            y += 2 * _LINE + 8
            for node in group.nodes:
                lines = 1 + layout.stacked + (node == here)
                height = 10 + _LINE * lines
                boxes[node.id] = Box(x + layout.indent, y, layout.column - layout.indent, height)
                y += height + 6
            y += 12
        lowest = max(lowest, y - 18)
    return boxes, lowest + layout.pad + 1


def _nodes() -> Iterator[Node]:
    yield ROOT
    for group in FAMILY:
        yield from group.nodes


def _node(node: Node, marked: bool, content: str) -> str:
    own = ' data-here="true" style="forced-color-adjust:none"' if marked else ""
    return f'<g data-node="{node.id}"{own}>{content}</g>'


def _rect(box: Box, radius: float, style: str) -> str:
    return (
        f'<rect x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{box.height:g}" '
        f'rx="{radius:g}" style="{style}"/>'
    )


def _text(x: float, y: float, words: str, style: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" style="{style}">{html.escape(words)}</text>'


def _current(marked: bool) -> str:
    return ' aria-current="true"' if marked else ""


def _badge(marked: bool) -> str:
    if not marked:
        return ""
    return (
        f' <strong style="background:{_HL};color:{_ON_HL};padding:0 4px;border-radius:2px">'
        f"{_HERE}</strong>"
    )
