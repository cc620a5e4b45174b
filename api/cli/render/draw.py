"""Closures and paths as lines of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rich.text import Text

from api.cli.render import style
from api.cli.render.text import counted, name_of, operation_name, short
from api.cli.render.tree import Line, lines, plant
from attribution.text.said import said
from schema.models import Operation, Variable
from store.contract.answers import Closure, Path

_MOST_REFERENCES = 4
_NARROWEST_PREVIEW = 24


def closure_lines(closure: Closure, title: str, limit: int | None, width: int) -> Iterator[Text]:
    """A closure as a tree.

    Args:
        closure: what to draw.
        title: names the variable or operation at the root.
        limit: how many variables get a line.
        width: columns of the screen.
    """
    counts = ", ".join(
        (
            counted(len(closure.variables), "variable"),
            counted(len(closure.derivations), "derivation"),
            counted(len(closure.operations), "operation"),
        )
    )
    yield Text(f"{closure.direction.value.capitalize()} closure of {title}: {counts}")
    if closure.operations:
        kinds = Counter(operation.kind.value for operation in closure.operations)
        yield Text("Operations: " + ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common()), style.DIM)
    yield Text()
    tree = plant(closure)
    makers = {operation.id: operation for operation in closure.operations}
    for line in lines(tree, limit):
        if line.is_part:
            yield Text()
        yield _tree_line(line, makers, width)
    yield from _endings(closure, len(tree.order), limit)


def _endings(closure: Closure, total: int, limit: int | None) -> Iterator[Text]:
    if limit is not None and total > limit:
        yield Text()
        yield Text(f"{limit:,} of {total:,} variables shown, nearest first; --limit 0 shows all.", style.DIM)
    if closure.truncated:
        some = ", ".join(short(id_) for id_ in closure.frontier[:_MOST_REFERENCES])
        yield Text()
        yield Text(
            f"Cut by its bounds; it goes on behind {counted(len(closure.frontier), 'variable')}, such as {some}.",
            style.BAD,
        )


def _tree_line(line: Line, makers: Mapping[str, Operation], width: int) -> Text:
    text = Text(line.prefix, style=style.DIM)
    if line.variable is None:
        parts = [part for part in (_references("↑", line.above), _references("↓", line.below)) if part]
        if line.hidden:
            parts.append(f"… {line.hidden:,} more")
        return text.append("  ".join(parts), style=style.DIM)
    marks = ("↑ " if line.is_part else "", "  ↓ goes on below" if line.continued else "")
    return (
        text.append_text(Text(marks[0], style.DIM))
        .append_text(variable_line(line.variable, makers, width - len(line.prefix) - sum(map(len, marks))))
        .append(marks[1], style=style.DIM)
    )


def _references(arrow: str, variables: Sequence[Variable]) -> str:
    if not variables:
        return ""
    some = ", ".join(f"{name_of(variable, 24)} {short(variable.id)}" for variable in variables[:_MOST_REFERENCES])
    more = len(variables) - _MOST_REFERENCES
    return f"{arrow} {some}" + (f" and {more:,} more" if more > 0 else "")


def variable_line(variable: Variable, makers: Mapping[str, Operation], width: int) -> Text:
    """A variable on one line: kind, short id, name, text, and the operation that made it."""
    text = style.variable_label(variable)
    maker = makers.get(variable.operation_id or "")
    by = f"  ← {operation_name(maker)}" if maker else ""
    room = max(width - text.cell_len - len(by) - 2, _NARROWEST_PREVIEW)
    return (
        text.append("  ").append_text(style.quoted(said(variable.preview, room - 2), room)).append(by, style=style.DIM)
    )


def path_lines(path: Path, makers: Mapping[str, Operation], width: int) -> Iterator[Text]:
    """A path, from the dependent variable down to its source, with the operation of each step."""
    for place, variable in enumerate(path.variables):
        yield variable_line(variable, {}, width)
        if place < len(path.derivations):
            maker = makers.get(path.derivations[place].operation_id)
            named = operation_name(maker) if maker else ""
            kind = f" ({maker.kind.value})" if maker else ""
            yield Text(f"  ↓ {named}{kind} {short(maker.id) if maker else ''}".rstrip(), style.DIM)
