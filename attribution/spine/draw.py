"""Draws a spine as SVG: a document without references, or a part of a page.

All coordinates are computed here; the template only draws and escapes. No information is in colour alone: kinds have
shapes, states have signs and words, and lost pieces are broken lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from attribution.spine import words
from attribution.spine.model import Box, Edge, Spine, State
from attribution.spine.place import place
from attribution.text.fit import middle, wrapped
from attribution.text.templates import environment

_FOLDER = Path(__file__).parent
_WIDTH = 218.0
_GAP = 22.0
_ROW_GAP = 52.0
_MARGIN = 14.0
_INSET = 16.0
_NAME = 80
_IDS = 5
"""The number of ids shown when the mouse is on a box."""


@dataclass(frozen=True, slots=True)
class _Style:
    """The look of a line of text: its class, its font size and its line height, in units of the drawing.

    Attributes:
        breadth: how many times wider than in the usual weight a text is.
    """

    name: str
    size: float
    height: float
    breadth: float = 1.0


_HEAD = _Style("head", 11, 15)
_BOLD = 1.15
_LABEL = _Style("label", 13, 17, _BOLD)
_SMALL = _Style("small", 11, 15)
_QUOTE = _Style("quote", 12, 16)
_STATES = {State.LOST: _Style("lost", 12, 17), State.HAS: _Style("has", 12, 17), State.LACKS: _Style("lacks", 12, 17)}
_OF_BOX = _Style("lacks", 12, 17)

_TAIL = 9.0
"""The height of a bubble's tail."""
_SHAPES = {
    "Message": "bubble",
    "Query": "pill",
    "RefinedQuery": "pill",
    "MemoryUnit": "drum",
    "Buffer": "drum",
    "Embedding": "drum",
    "Prompt": "sheet",
    "Context": "sheet",
    "RetrievalResult": "sheet",
    "Answer": "cut",
    "Response": "cut",
    "GoldAnswer": "cut",
    "Judgement": "cut",
    "Score": "cut",
    "Operation": "arrow",
}
_ROOM = {"bubble": (0.0, _TAIL), "drum": (9.0, 9.0), "sheet": (2.0, 0.0), "pill": (4.0, 4.0)}
"""The space that a shape needs above and below its text."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text."""

    style: str
    size: float
    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class DrawnBox:
    """One box.

    Attributes:
        style: names of classes.
        outline: of the shape, as the data of a path.
        behind: the outline a little shifted, for a group.
        title: shown when the mouse is on the box.
    """

    style: str
    outline: str
    behind: str
    lines: list[Line]
    title: str


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """One edge.

    Attributes:
        way: as the data of a path.
        mark: the position of the sign of a loss; None without a loss.
        lost: the text beside the sign.
    """

    style: str
    way: str
    title: str
    mark: tuple[float, float] | None
    lost: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """The whole drawing; coordinates are in its units, which are pixels at full size."""

    width: float
    height: float
    boxes: list[DrawnBox]
    edges: list[DrawnEdge]
    title: str
    description: str


def svg(spine: Spine, title: str = "", standalone: bool = True, anchor: str = "") -> Markup:
    """The drawing as SVG.

    Args:
        spine: to draw.
        title: such as the question.
        standalone: whether to make a document; otherwise a part of a page that includes ``style_sheet``.
        anchor: prefix of anchors on the page to which boxes link, followed by the number of the box; empty for no
            links.
            Only for a mouse: the page has its own links there.
    """
    template = _environment().get_template("spine.svg.j2")
    style = Markup(style_sheet()) if standalone else None  # noqa: S704 - a file of ours
    return Markup(template.render(drawing=draw(spine, title), style=style, anchor=anchor))  # noqa: S704 - escaped by the template


def style_sheet() -> str:
    """The styles of drawings, in light and dark."""
    return (_FOLDER / "spine.css").read_text("utf-8")


def draw(spine: Spine, title: str = "") -> Drawing:
    """Compute all coordinates."""
    ends = [(edge.source, edge.target) for edge in spine.edges]
    straight = [not spine.boxes[source].is_others and not spine.boxes[target].is_others for source, target in ends]
    placed = place([box.layer for box in spine.boxes], ends, _WIDTH, _GAP, straight)
    texts = [_texts(spine, number) for number in range(len(spine.boxes))]
    heights = [_height(box, lines) for box, lines in zip(spine.boxes, texts, strict=True)]
    layers = max((box.layer for box in spine.boxes), default=-1) + 1
    rows = [max(h for h, box in zip(heights, spine.boxes, strict=True) if box.layer == row) for row in range(layers)]
    tops = [_MARGIN + sum(rows[:row]) + row * _ROW_GAP for row in range(layers)]
    tops_of = [
        tops[box.layer] + (rows[box.layer] - height) / 2 for box, height in zip(spine.boxes, heights, strict=True)
    ]
    middles = [x + _MARGIN for x in placed.boxes]
    boxes = [
        _box(box, middles[number] - _WIDTH / 2, tops_of[number], heights[number], texts[number], spine)
        for number, box in enumerate(spine.boxes)
    ]
    edges = []
    for edge, points in zip(spine.edges, placed.points, strict=True):
        first = spine.boxes[edge.source].layer + 1
        passed = [(x + _MARGIN, tops[first + n], tops[first + n] + rows[first + n]) for n, x in enumerate(points)]
        tail = _TAIL if _shape(spine.boxes[edge.source]) == "bubble" else 0.0
        start = (middles[edge.source], tops_of[edge.source] + heights[edge.source] - tail)
        end = (middles[edge.target], tops_of[edge.target])
        edges.append(_edge(edge, start, passed, end, spine))
    height = (tops[-1] + rows[-1] if layers else 0.0) + _MARGIN
    return Drawing(
        round(placed.width + 2 * _MARGIN, 1), round(height, 1), boxes, edges, title, f"{words.summary(spine)}."
    )


def _texts(spine: Spine, number: int) -> list[tuple[_Style, str]]:
    """The lines of a box."""
    box = spine.boxes[number]
    found: list[tuple[_Style, str]] = []
    width = _WIDTH - 2 * _INSET - (10 if _shape(box) == "arrow" else 0)

    def add(style: _Style, text: str, most: int) -> None:
        found.extend((style, line) for line in wrapped(text, width / (style.size * style.breadth), most))

    role = words.role(box)
    if box.count == 1 or role:
        add(_HEAD, f"{box.kind}, {role}" if role else box.kind, 1)
    add(_LABEL, middle(box.label, _NAME), 2)
    if inside := words.inside(box):
        add(_SMALL, inside, 2)
    made = words.made_by(edge for edge in spine.edges if edge.target == number)
    if made and box.variables:
        add(_SMALL, f"by {made}", 2)
    if box.text:
        add(_QUOTE, f"“{box.text}”", 2)
    for said in words.states(spine, box):
        add(_OF_BOX if said.state is None else _STATES[said.state], said.text, 2)
    return found


def _shape(box: Box) -> str:
    return _SHAPES.get(box.kind, "plain")


def _height(box: Box, lines: Sequence[tuple[_Style, str]]) -> float:
    above, below = _ROOM.get(_shape(box), (0.0, 0.0))
    return above + 8 + sum(style.height for style, _ in lines) + 9 + below


def _box(box: Box, x: float, y: float, height: float, lines: Sequence[tuple[_Style, str]], spine: Spine) -> DrawnBox:
    shape = _shape(box)
    classes = [f"kind-{box.kind.lower()}", shape]
    classes += [name for name, holds in (("others", box.is_others), ("decisive", box.is_decisive)) if holds]
    states = {one.state for one in box.states}
    classes += [f"state-{state}" for state in (State.LOST, State.HAS, State.LACKS) if state in states][:1]
    drawn = []
    at = y + 8 + _ROOM.get(shape, (0.0, 0.0))[0]
    for style, text in lines:
        at += style.height
        drawn.append(Line(style.name, style.size, _number(x + _INSET), _number(at - 4), text))
    behind = outline(shape, x + 5, y - 5, _WIDTH, height) if box.count > 1 else ""
    return DrawnBox(" ".join(classes), outline(shape, x, y, _WIDTH, height), behind, drawn, _title(box))


def _title(box: Box) -> str:
    ids = [*box.variables, *box.operations]
    more = f" and {len(ids) - _IDS:,} more" if len(ids) > _IDS else ""
    return f"{box.label}: id {', '.join(ids[:_IDS])}{more}"


def _edge(
    edge: Edge,
    start: tuple[float, float],
    passed: Sequence[tuple[float, float, float]],
    end: tuple[float, float],
    spine: Spine,
) -> DrawnEdge:
    x, y = start
    way = [f"M{_number(x)} {_number(y)}"]
    last = (x, y, x, y)
    for point, top, bottom in passed:
        way += [_bend(x, y, point, top), f"V{_number(bottom)}"]
        x, y = point, bottom
    last = (x, y, *end)
    way.append(_bend(*last))
    classes = ["lost"] if edge.lost else []
    classes += ["decisive"] if any(one.is_decisive for one in edge.operations) else []
    classes += [] if edge.derivations else ["missed"]
    mark = (_number((last[0] + last[2]) / 2), _number((last[1] + last[3]) / 2)) if edge.lost else None
    lost = words.numbers(edge.lost) if len(spine.pieces) > 1 and edge.lost else ""
    return DrawnEdge(" ".join(classes), "".join(way), _said(edge, spine), mark, lost)


def _said(edge: Edge, spine: Spine) -> str:
    """An edge in words."""
    names = ", ".join(words.operations(one.name, one.count) for one in edge.operations)
    source, target = spine.boxes[edge.source].label, spine.boxes[edge.target].label
    return f"{source} → {target}{' by ' * bool(names)}{names}"


def _bend(x: float, y: float, to_x: float, to_y: float) -> str:
    half = (y + to_y) / 2
    return "C" + " ".join(f"{_number(a)} {_number(b)}" for a, b in ((x, half), (to_x, half), (to_x, to_y)))


def outline(shape: str, x: float, y: float, width: float, height: float) -> str:
    """The outline of a shape, as the data of a path."""
    right, bottom = x + width, y + height
    match shape:
        case "bubble":
            floor = bottom - _TAIL
            text = (
                f"M{x + 8} {y}H{right - 8}Q{right} {y} {right} {y + 8}V{floor - 8}Q{right} {floor} {right - 8} {floor}"
                f"H{x + 36}L{x + 20} {bottom}V{floor}H{x + 8}Q{x} {floor} {x} {floor - 8}V{y + 8}Q{x} {y} {x + 8} {y}Z"
            )
        case "drum":
            bulge = 9
            text = (
                f"M{x} {y + bulge}Q{x + width / 2} {y - bulge} {right} {y + bulge}V{bottom - bulge}"
                f"Q{x + width / 2} {bottom + bulge} {x} {bottom - bulge}Z"
                f"M{x} {y + bulge}Q{x + width / 2} {y + 3 * bulge} {right} {y + bulge}"
            )
        case "sheet":
            text = f"M{x} {y}H{right - 14}L{right} {y + 14}V{bottom}H{x}ZM{right - 14} {y}V{y + 14}H{right}"
        case "pill":
            round_ = min(height / 2, 22)
            text = (
                f"M{x + round_} {y}H{right - round_}Q{right} {y} {right} {y + round_}V{bottom - round_}"
                f"Q{right} {bottom} {right - round_} {bottom}H{x + round_}Q{x} {bottom} {x} {bottom - round_}"
                f"V{y + round_}Q{x} {y} {x + round_} {y}Z"
            )
        case "cut":
            text = (
                f"M{x + 12} {y}H{right - 12}L{right} {y + 12}V{bottom - 12}L{right - 12} {bottom}"
                f"H{x + 12}L{x} {bottom - 12}V{y + 12}Z"
            )
        case "arrow":
            text = (
                f"M{x} {y}H{right - 12}L{right} {y + height / 2}L{right - 12} {bottom}H{x}L{x + 10} {y + height / 2}Z"
            )
        case _:
            text = f"M{x} {y}H{right}V{bottom}H{x}Z"
    return text


def _number(value: float) -> float:
    return round(value, 1)


@cache
def _environment() -> Environment:
    return environment(_FOLDER)
