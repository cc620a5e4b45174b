"""A closure in DOT, the language of Graphviz. Edges point to the past, as in the graph."""

from __future__ import annotations

from collections.abc import Iterator

from api.cli.render.text import label_of, one_line, operation_name, text_on_line
from store.contract.answers import Closure

_PREVIEW = 60


def dot_lines(closure: Closure) -> Iterator[str]:
    """The lines of a DOT document."""
    names = {operation.id: operation_name(operation) for operation in closure.operations}
    roots = set(closure.roots)
    yield "digraph closure {"
    yield "  rankdir=RL;"
    yield '  node [shape=box, style=rounded, fontname="sans-serif"];'
    yield '  edge [fontname="sans-serif", fontsize=10];'
    for variable in closure.variables:
        label = "\\n".join(
            map(
                _escape,
                filter(None, (variable.kind.value, label_of(variable), text_on_line(variable.preview, _PREVIEW))),
            )
        )
        bold = ", penwidth=2" if variable.id in roots else ""
        yield f'  "{_escape(variable.id)}" [label="{label}"{bold}];'
    for derivation in closure.derivations:
        label = _escape(names.get(derivation.operation_id, ""))
        yield f'  "{_escape(derivation.target)}" -> "{_escape(derivation.source)}" [label="{label}"];'
    yield "}"


def _escape(text: str) -> str:
    """Escapes text for a quoted string: Graphviz interprets backslash sequences and HTML entities in labels."""
    return one_line(text).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
