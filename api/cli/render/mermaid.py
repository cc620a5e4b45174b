"""A closure as a Mermaid flowchart. Edges point to the past, as in the graph."""

from __future__ import annotations

import re
from collections.abc import Iterator

from api.cli.render.text import label_of, one_line, operation_name, text_on_line
from store.contract.answers import Closure

_PREVIEW = 60
_PUNCTUATION = re.compile(r"[\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e]")


def mermaid_lines(closure: Closure) -> Iterator[str]:
    """The lines of a Mermaid flowchart."""
    names = {operation.id: operation_name(operation) for operation in closure.operations}
    nodes = {variable.id: f"v{place}" for place, variable in enumerate(closure.variables)}
    yield "flowchart RL"
    for variable in closure.variables:
        label = "<br/>".join(
            map(
                _escape,
                filter(None, (variable.kind.value, label_of(variable), text_on_line(variable.preview, _PREVIEW))),
            )
        )
        yield f'  {nodes[variable.id]}["{label}"]'
    for derivation in closure.derivations:
        label = _escape(names.get(derivation.operation_id, ""))
        arrow = f'-->|"{label}"|' if label else "-->"
        yield f"  {nodes[derivation.target]} {arrow} {nodes[derivation.source]}"
    for root in closure.roots:
        if root in nodes:
            yield f"  style {nodes[root]} stroke-width:3px"


def _escape(text: str) -> str:
    """Replaces all punctuation by entity codes, because Mermaid interprets quotes, markup and lists in labels."""
    return _PUNCTUATION.sub(lambda found: f"#{ord(found[0])};", one_line(text))
