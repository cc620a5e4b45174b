"""Where the boxes and edges of a drawn spine are."""

from __future__ import annotations

import re
from itertools import chain, pairwise
from typing import Any

import pytest

from attribution.spine.draw import _GAP, _MARGIN, _ROW_GAP, _TAIL, _WIDTH, DrawnEdge, draw, outline
from attribution.spine.model import Box, Edge, EdgeOperation, KindCount, PieceState, Role, Spine, State, shortened
from attribution.spine.place import place


def box(layer: int, kind: str = "Other", count: int = 1, **more: Any) -> Box:
    fields: dict[str, Any] = {
        "kind": kind,
        "label": f"box on {layer}",
        "text": "",
        "count": count,
        "kinds": [KindCount(kind=kind, count=count)],
        "variables": ["v"],
        "operations": [],
        "layer": layer,
        "roles": [Role.PATH],
        "states": [],
        "is_decisive": False,
        "is_past": True,
    }
    return Box(**fields | more)


def edge(source: int, target: int, derivations: int = 1, *, lost: tuple[int, ...] = (), decisive: bool = False) -> Edge:
    by = [EdgeOperation(name="step", kind="Update", count=2, is_decisive=decisive)]
    return Edge(source=source, target=target, derivations=derivations, operations=by, lost=list(lost))


def spine(boxes: list[Box], edges: list[Edge]) -> Spine:
    return Spine(failure_id="f", attribution_id=None, boxes=boxes, edges=edges, pieces=[], variables=len(boxes))


def ends(way: DrawnEdge) -> list[tuple[float, float]]:
    """The points that an edge goes through: its start, and the top and bottom of each passed layer, and its end."""
    points: list[tuple[float, float]] = []
    for letter, said in re.findall(r"([MCV])([-\d. ]+)", way.way):
        numbers = [float(one) for one in said.split()]
        points.append((points[-1][0], numbers[0]) if letter == "V" else (numbers[-2], numbers[-1]))
    return points


def corners(way: str) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a rectangle."""
    found = re.fullmatch(r"M([-\d.]+) ([-\d.]+)H([-\d.]+)V([-\d.]+)H[-\d.]+Z", way)
    assert found is not None
    return tuple(map(float, found.groups()))  # type: ignore[return-value]


def test_an_edge_leads_from_the_bottom_of_its_source_to_the_top_of_its_target() -> None:
    tall = box(1, text="a long text " * 8)
    drawn = draw(spine([box(0), box(1), tall, box(2)], [edge(0, 1), edge(1, 3), edge(0, 3), edge(0, 2)]), "title")
    first, second, third, last = (corners(one.outline) for one in drawn.boxes)
    middles = [(one[0] + one[2]) / 2 for one in (first, second, third, last)]
    for one in (first, second, third, last):
        assert one[2] - one[0] == _WIDTH
    assert second[1] + second[3] == third[1] + third[3]
    assert second[3] - second[1] < third[3] - third[1]
    assert third[1] == pytest.approx(first[3] + _ROW_GAP)
    assert last[1] == pytest.approx(third[3] + _ROW_GAP)
    for number, expected in (
        (0, [middles[0], first[3], middles[1], second[1]]),
        (1, [middles[1], second[3], middles[3], last[1]]),
    ):
        assert [*chain(*ends(drawn.edges[number]))] == pytest.approx(expected, abs=0.11)
    start, top, bottom, end = ends(drawn.edges[2])
    assert [*start, *end] == pytest.approx([middles[0], first[3], middles[3], last[1]], abs=0.11)
    assert (top[1], bottom[1]) == pytest.approx((third[1], third[3]), abs=0.11)
    assert not any(one[0] < top[0] < one[2] for one in (second, third))
    assert max(second[2], third[2], top[0]) + _MARGIN <= drawn.width + 0.1
    assert min(first[1], second[0], third[0], top[0]) >= _MARGIN - 0.1
    assert drawn.height == pytest.approx(last[3] + _MARGIN, abs=0.11)
    assert drawn.title == "title"


def test_nothing_is_an_empty_drawing() -> None:
    drawn = draw(spine([], []))
    assert (drawn.width, drawn.height, drawn.boxes, drawn.edges) == (2 * _MARGIN, _MARGIN, [], [])


def test_an_edge_begins_above_the_tail_of_a_bubble() -> None:
    plain, bubble = (draw(spine([box(0, kind), box(1)], [edge(0, 1)])) for kind in ("Other", "Message"))
    assert ends(bubble.edges[0])[0][1] == ends(plain.edges[0])[0][1]
    assert ends(bubble.edges[0])[1][1] == ends(plain.edges[0])[1][1] + _TAIL


@pytest.mark.parametrize(
    ("one", "style", "has_mark"),
    [
        (edge(0, 1), "", False),
        (edge(0, 1, 0), "missed", False),
        (edge(0, 1, lost=(0,)), "lost", True),
        (edge(0, 1, 0, lost=(0, 1), decisive=True), "lost decisive missed", True),
    ],
)
def test_the_look_of_an_edge(one: Edge, style: str, has_mark: bool) -> None:
    (drawn,) = draw(spine([box(0), box(1)], [one])).edges
    assert (drawn.style, drawn.mark is not None) == (style, has_mark)
    assert drawn.title == "box on 0 → box on 1 by step × 2"
    if drawn.mark is not None:
        start, end = ends(drawn)
        assert drawn.mark == pytest.approx(((start[0] + end[0]) / 2, (start[1] + end[1]) / 2), abs=0.11)


def state(said: State) -> PieceState:
    return PieceState(piece=0, state=said)


@pytest.mark.parametrize(
    ("more", "style"),
    [
        ({}, "kind-other plain"),
        ({"kind": "Message"}, "kind-message bubble"),
        ({"roles": []}, "kind-other plain others"),
        ({"is_decisive": True}, "kind-other plain decisive"),
        ({"states": [state(State.HAS), state(State.LOST)]}, "kind-other plain state-lost"),
        ({"states": [state(State.LACKS), state(State.HAS)]}, "kind-other plain state-has"),
        ({"states": [state(State.LACKS)]}, "kind-other plain state-lacks"),
    ],
)
def test_the_look_of_a_box(more: dict[str, Any], style: str) -> None:
    (drawn,) = draw(spine([box(0, **{"kind": "Other"} | more)], [])).boxes
    assert drawn.style == style
    assert drawn.behind == ""


def test_a_group_has_a_second_outline_and_names_some_ids() -> None:
    (drawn,) = draw(spine([box(0, count=8, variables=list("abcd"), operations=list("efg"))], [])).boxes
    assert drawn.title == "box on 0: id a, b, c, d, e and 2 more"
    own, behind = corners(drawn.outline), corners(drawn.behind)
    assert behind == (own[0] + 5, own[1] - 5, own[2] + 5, own[3] - 5)
    (few,) = draw(spine([box(0, variables=list("abc"), operations=list("de"))], [])).boxes
    assert few.title == "box on 0: id a, b, c, d, e"


def test_lines_of_text_are_below_each_other_inside_their_box() -> None:
    (drawn,) = draw(spine([box(0, text="said " * 30)], [])).boxes
    left, top, right, bottom = corners(drawn.outline)
    heights = [line.y for line in drawn.lines]
    assert heights == sorted(set(heights))
    assert all(top < line.y < bottom and left < line.x < right for line in drawn.lines)
    assert [line.text for line in drawn.lines][:2] == ["Other", "box on 0"]


@pytest.mark.parametrize("shape", ["bubble", "drum", "sheet", "pill", "cut", "arrow", "plain"])
def test_a_shape_fills_its_place(shape: str) -> None:
    numbers = [float(one) for one in re.findall(r"-?\d+(?:\.\d+)?", outline(shape, 1_000, 5_000, 200, 60))]
    across = [one for one in numbers if one < 3_000]
    down = [one for one in numbers if one > 3_000]
    assert (min(across), max(across)) == (1_000, 1_200)
    bulge = 9 if shape == "drum" else 0
    assert (min(down), max(down)) == (5_000 - bulge, 5_060 + bulge)


def test_boxes_of_a_layer_stand_apart_and_near_their_sources() -> None:
    layers = [0, 0, 0, 1, 1, 1]
    crossed = [(0, 5), (1, 4), (2, 3)]
    placed = place(layers, crossed, 100.0, 20.0, [True] * 3)
    for row in (placed.boxes[:3], placed.boxes[3:]):
        ordered = sorted(row)
        assert all(right - left >= 120 - 1e-6 for left, right in pairwise(ordered))
    assert [placed.boxes[source] for source, _ in crossed] == pytest.approx([placed.boxes[end] for _, end in crossed])
    assert placed.points == [[], [], []]
    assert placed.width == pytest.approx(max(placed.boxes) - min(placed.boxes) + 100)
    assert min(placed.boxes) == pytest.approx(50)
    assert _GAP > 0


def test_a_document_lists_the_first_members_of_a_box() -> None:
    def members(name: str, count: int) -> list[str]:
        return [f"{name}{number}" for number in range(count)]

    def boxes(most: int) -> list[Box]:
        return [
            box(0, count=3, variables=members("v", 3)),
            box(1, count=4, variables=members("v", min(most, 4))),
            box(2, count=5, variables=[], operations=members("o", min(most, 5))),
            box(2, count=6, variables=members("v", 2), operations=members("o", min(most, 4))),
        ]

    whole = spine(boxes(10), [])
    assert shortened(whole, 3).boxes == boxes(3)
    assert shortened(whole, 3).variables == whole.variables
    assert shortened(whole) == whole
    many = spine([box(0, count=21, variables=members("v", 21))], [])
    assert shortened(many).boxes[0].variables == members("v", 20)
