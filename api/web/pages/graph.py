"""The graph of everything that a variable was made from, or that was made from it.

The page loads the data ``{start, truncated, nodes, edges}`` from an address of its own, and ``static/graph`` draws it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse, Response

from api.graphql.lineage import MAX_HOPS
from api.web.pages import words
from api.web.pages.asking import MissingError
from api.web.pages.graph_marks import failure_of, marks_of
from api.web.pages.render import HEADERS, at
from api.web.pages.shown import PageRequest, Shown
from attribution.text.fit import printable
from schema.kinds import VariableKind

EDGES = 12_000
"""The most edges that a page draws."""

_FROM = re.compile(r"(?:failures|queues/[0-9a-f]{32}/(?:cases|disputes))/[0-9a-f]{32}")
"""Pages of a project that link to the graph and to which its "back" link may lead."""

_DIRECTIONS = ("backward", "forward", "both")


async def graph(asked: PageRequest) -> Shown:
    """The page of a variable's graph."""
    found = await asked.viewer.ask_project("graph_of", asked.project, id=asked.id)
    one = found["project"]["variable"]
    if one is None:
        raise MissingError("variable")
    data = ("projects", asked.project, "variables")
    came_from = _FROM.fullmatch(asked.said("from") or "")
    values = {
        "it": found["project"],
        "variable": one,
        "from": came_from[0] if came_from else None,
        "failure": await failure_of(asked, came_from[0] if came_from else None),
        "direction": _direction(asked),
        "depth": _depth(asked)[0],
        "as_of": asked.place("asOf")[0],
        "problems": [problem for _, problem in (_depth(asked), asked.place("asOf", "place in the trace")) if problem],
        "chosen": _kinds(asked),
        "kinds": list(VariableKind),
        "data": at(*data, one["id"], "graph", "data")
        + (f"?{asked.request.url.query}" if asked.request.url.query else ""),
        # The script fills in the braces; ids contain none.
        "open": f"{at(*data)}/{{id}}",
        "expand": f"{at(*data)}/{{id}}/graph/data?direction=both&depth=1",
    }
    return Shown("graph", values)


async def graph_data(asked: PageRequest) -> Response:
    """The data that the page draws."""
    direction = _direction(asked)
    nodes: dict[str, dict[str, Any]] = {}
    edges: dict[tuple[str, str, str], dict[str, str]] = {}
    start, truncated = "", False
    for one_way in ("backward", "forward") if direction == "both" else (direction,):
        found = await asked.viewer.ask_project(
            "graph",
            asked.project,
            id=asked.id,
            direction=one_way,
            hops=_depth(asked)[0],
            kinds=_kinds(asked),
            asOf=asked.place("asOf")[0],
        )
        variable = found["project"]["variable"]
        if variable is None:
            raise MissingError("variable")
        start, lineage = variable["id"], variable["lineage"]
        truncated = truncated or lineage["truncated"]
        nodes |= {one["id"]: _node(one) for one in lineage["nodes"]}
        edges |= {(one["source"], one["target"], one["kind"]): one for one in lineage["edges"]}
    came_from = _FROM.fullmatch(asked.said("from") or "")
    for id_, mark in marks_of(await failure_of(asked, came_from[0] if came_from else None)).items():
        if id_ in nodes:
            nodes[id_]["mark"] = mark
    drawn = [one for one in edges.values() if one["source"] in nodes and one["target"] in nodes]
    if len(drawn) > EDGES:
        told = f"There are {len(drawn):,} derivations; {EDGES:,} can be drawn. Ask for fewer steps or kinds."
        return JSONResponse({"problem": told}, 413, HEADERS)
    content = {"start": start, "truncated": truncated, "nodes": list(nodes.values()), "edges": drawn}
    return JSONResponse(content, headers=HEADERS | {"Cache-Control": "no-store"})


def _node(one: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": one["id"],
        "label": printable(words.variable(one)),
        "kind": one["kind"],
        "group": printable(one["category"] or ""),
        "note": printable(words.cut(one["preview"], 200)),
        "sequence": one["sequence"],
    }


def _direction(asked: PageRequest) -> str:
    said = asked.said("direction")
    return said if said in _DIRECTIONS else "backward"


def _kinds(asked: PageRequest) -> list[str]:
    return [kind for kind in asked.request.query_params.getlist("kinds") if kind in set(VariableKind)]


def _depth(asked: PageRequest) -> tuple[int | None, str | None]:
    """The number of steps to follow, or an error message."""
    depth, problem = asked.place("depth", "number of steps")
    if depth is not None and depth > MAX_HOPS:
        return None, f"{depth:,} steps are too many: at most {MAX_HOPS:,} can be asked for. All are shown."
    return depth, problem
