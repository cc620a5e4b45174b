"""The rows of a Cypher query as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from rich.table import Table
from rich.text import Text

from api.cli.render import style
from api.cli.render.text import one_line, short

_WIDTH = 200
_CAPTIONS = ("name", "question", "errorType", "externalId")


def records(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """One line a row. If the screen is too narrow, the widest columns are cut first."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=style.DIM)
    for place, column in enumerate(columns):
        is_number = all(isinstance(row[place], int | float) and not isinstance(row[place], bool) for row in rows)
        made.add_column(_one_line(column), justify="right" if is_number else "left", overflow="ellipsis")
    for row in rows:
        made.add_row(*map(_cell, row))
    return made


def _cell(value: Any) -> Text:
    if value is None:
        return Text("null", style=style.DIM)
    return _one_line(value if isinstance(value, str) else _shown(value))


def _one_line(text: str) -> Text:
    return Text(one_line(text, _WIDTH), no_wrap=True, overflow="ellipsis")


def _shown(value: Any) -> str:
    if isinstance(value, dict) and value.keys() == {"elementId", "labels", "properties"}:
        return _node(value)
    if isinstance(value, dict) and value.keys() == {"elementId", "type", "start", "end", "properties"}:
        return f"[:{value['type']}]"
    if isinstance(value, dict) and value.keys() == {"nodes", "relationships"}:
        return _path(value)
    if isinstance(value, list):
        return f"[{', '.join(_shown(part) for part in value)}]"
    return msgspec.json.encode(value).decode()


def _node(node: dict[str, Any]) -> str:
    properties = node["properties"]
    caption = next((str(properties[name]) for name in _CAPTIONS if properties.get(name)), "")
    said = " ".join(part for part in (short(str(properties.get("id", ""))), one_line(caption, 40)) if part)
    return f"({':'.join(['', *node['labels']])}{' ' if said else ''}{said})"


def _path(path: dict[str, Any]) -> str:
    """A path's nodes and relationships, with arrows in their stored direction."""
    nodes = path["nodes"]
    text = _node(nodes[0])
    for before, relationship, after in zip(nodes, path["relationships"], nodes[1:], strict=False):
        line = f"-[:{relationship['type']}]-"
        text += (f"{line}>" if relationship["start"] == before["elementId"] else f"<{line}") + _node(after)
    return text
