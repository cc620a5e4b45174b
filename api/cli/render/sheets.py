"""Single elements as sheets of fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from api.cli.render import style
from api.cli.render.tables import sheet
from api.cli.render.text import counted, many_lines, one_line, operation_name, short, size_of
from schema.models import Operation, Session, Trace, Variable
from store.contract.answers import Health, Stats

Field = tuple[str, RenderableType | str | None]


def trace(found: Trace, stats: Stats) -> Table:
    """A trace and its counts."""
    return sheet(
        (
            ("trace", found.name or found.external_id),
            ("id", found.id),
            ("external id", found.external_id),
            ("source", found.source),
            ("created", _time(found.created_at)),
            *(
                (f"{label.lower()}s", _counts(stats, label))
                for label in stats.labels
                if label != "Trace" and stats.labels[label]
            ),
            *_attributes(found.attributes),
        )
    )


def _counts(stats: Stats, label: str) -> str:
    kinds = sorted(stats.kinds.get(label, {}).items(), key=lambda item: -item[1])
    listed = ", ".join(f"{count:,} {kind}" for kind, count in kinds)
    return f"{stats.labels[label]:,}" + (f" ({listed})" if listed else "")


def operation(found: Operation, session: Session | None) -> Table:
    """An operation without its variables."""
    return sheet(
        (
            ("operation", operation_name(found, 200)),
            ("kind", style.kind(found.kind.value)),
            ("category", found.category),
            ("id", found.id),
            ("external id", found.external_id),
            ("comment", found.comment),
            ("status", Text(found.status.value, style=style.BAD if found.status.value == "error" else "")),
            ("place in trace", str(found.sequence)),
            ("session", _session(session)),
            ("started", _time(found.started_at)),
            ("ended", _time(found.ended_at)),
            ("location", found.location),
            *_attributes(found.attributes),
        )
    )


def variable(found: Variable, maker: Operation | None, session: Session | None) -> Table:
    """A variable without its text."""
    made_by = style.operation_label(maker).append(f"  {short(maker.id)}", style=style.ID) if maker else "from outside"
    occurrence = f", occurrence {found.occurrence}" if found.occurrence else ""
    return sheet(
        (
            ("variable", Text(one_line(found.name), style="bold")),
            ("kind", style.kind(found.kind.value)),
            ("category", found.category),
            ("class", found.class_name),
            ("version", f"{found.version}{occurrence}"),
            ("id", found.id),
            ("external id", found.external_id),
            ("comment", found.comment),
            ("made by", made_by),
            ("revision of", found.revision_of),
            ("judged", {None: None, True: "right", False: "wrong"}[found.right]),
            ("place in trace", str(found.sequence)),
            ("session", _session(session)),
            ("created", _time(found.created_at)),
            ("location", found.location),
            ("size", f"{size_of(found.size)} of {found.media_type}"),
            ("hash", found.value_hash),
            *_attributes(found.attributes),
        )
    )


def health(found: Health) -> Table:
    """The result of checking a database; problems come last."""
    problems = [("problem", Text(one_line(problem), style=style.BAD)) for problem in found.problems]
    return sheet(
        (
            ("engine", f"{found.engine} {found.version}"),
            *((_words(name), _detail(name, value)) for name, value in found.details.items() if name != "stores"),
            *((f"store {name}", _store(one)) for name, one in found.details.get("stores", {}).items()),
            *(problems or [("problems", Text("none", style=style.GOOD))]),
        )
    )


def _store(found: Mapping[str, Any]) -> str:
    """One of several stores: engine, place, and number of projects."""
    projects = counted(len(found["projects"]), "project")
    if "engine" not in found:
        return projects
    return f"{found['engine']} {found['version']} at {found.get('uri') or found.get('path')}, {projects}"


def _words(name: str) -> str:
    """``freeBytes`` → ``free bytes``."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name)


def _detail(name: str, value: object) -> RenderableType:
    if isinstance(value, int) and not isinstance(value, bool) and name.endswith("Bytes"):
        return Text(size_of(value))
    if isinstance(value, list | tuple):
        return Text("\n".join(one_line(str(item)) for item in value) or "none")
    if isinstance(value, dict) and name == "queue":
        return Text(", ".join(f"{_words(key)} {one_line(str(item))}" for key, item in value.items()))
    if isinstance(value, dict):
        return Text(
            ", ".join(f"{count:,} {one_line(state)}" for state, count in Counter(map(str, value.values())).items())
        )
    return Text(one_line(str(value)))


def preview(found: Variable) -> Iterator[Text]:
    """The text of a variable, as far as it is stored on the variable."""
    yield Text(many_lines(found.preview if found.value is None else found.value))
    if found.value is None and len(found.preview.encode()) < found.size:
        left = counted(found.size - len(found.preview.encode()), "byte")
        yield Text(f"… {left} more: memtrace value {short(found.id)}", style.DIM)


def _session(session: Session | None) -> str | None:
    if session is None:
        return None
    named = session.name or session.external_id
    return f"{named} ({session.category})" if session.category else named


def _time(moment: datetime | None) -> str | None:
    return f"{moment:%Y-%m-%d %H:%M:%S.%f} UTC" if moment else None


def _attributes(attributes: str) -> list[Field]:
    """The attributes, one field each."""
    decoded = msgspec.json.decode(attributes)
    if not isinstance(decoded, dict):
        return [("attributes", attributes)]
    return [
        (f".{one_line(name, 40)}", value if isinstance(value, str) else msgspec.json.encode(value).decode())
        for name, value in decoded.items()
    ]
