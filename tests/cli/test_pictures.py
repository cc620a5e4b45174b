"""DOT and Mermaid documents have every variable and derivation, whatever is in the labels."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from api.cli.context import DEFAULT_PROJECT
from api.cli.render.dot import dot_lines
from api.cli.render.mermaid import mermaid_lines
from store.contract.answers import Closure, Direction
from tests.cli.conftest import Cli
from tests.contract.samples import assistant
from tests.factory import TraceBuilder

HOSTILE = 'a "quote" \\" \\ [b] {c} <d> &amp; #quot; | ; --> `**e**`\n"];x->y//\x1b[0m 1. end'
PREVIEW = 'a "quote" \\" \\ [b] {c} <d> &am…*e**` "];x->y//\\x1b[0m 1. end'
STRING = r'"((?:[^"\\]|\\.)*)"'
NODE = re.compile(rf"  {STRING} \[label={STRING}(?:, penwidth=2)?\];")
EDGE = re.compile(rf"  {STRING} -> {STRING} \[label={STRING}\];")
MERMAID_NODE = re.compile(r'  (v\d+)\["([^"]*)"\]')
MERMAID_EDGE = re.compile(r'  (v\d+) -->(?:\|"([^"]*)"\|)? (v\d+)')


def closure_of(text: str) -> Closure:
    trace = TraceBuilder(DEFAULT_PROJECT)
    step = trace.operation("step", name=f"step {text}")
    source = trace.variable("source", "text", name=f"name {text}")
    target = trace.variable("target", text, by=step, preview=text)
    derivations = trace.derive(target, source, by=step)
    return Closure([target.id], Direction.BACKWARD, [source, target], derivations, [step], False, [])


def read_dot(document: list[str]) -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    """A small parser for the lines that Graphviz would read: labels by id, and edges."""
    assert document[0] == "digraph closure {"
    assert document[-1] == "}"
    labels, edges = {}, []
    for line in document[4:-1]:
        node, edge = NODE.fullmatch(line), EDGE.fullmatch(line)
        assert node or edge, line
        if node:
            labels[node[1]] = unescape(node[2])
        elif edge:
            edges.append((edge[1], edge[2], unescape(edge[3])))
    return labels, edges


def unescape(label: str) -> str:
    plain = re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], label)
    return html.unescape(plain)


def read_mermaid(document: list[str]) -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    assert document[0] == "flowchart RL"
    labels, edges = {}, []
    for line in document[1:]:
        node, edge = MERMAID_NODE.fullmatch(line), MERMAID_EDGE.fullmatch(line)
        assert node or edge or re.fullmatch(r"  style v\d+ stroke-width:3px", line), line
        if node:
            labels[node[1]] = decode(node[2])
        elif edge:
            edges.append((edge[1], edge[3], decode(edge[2] or "")))
    return labels, edges


def decode(label: str) -> str:
    assert re.fullmatch(r"(?:<br/>|#\d+;|[^\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e])*", label), label
    return re.sub(r"#(\d+);", lambda found: chr(int(found[1])), label.replace("<br/>", "\n"))


def test_dot_escapes_labels() -> None:
    labels, ((target, source, label),) = read_dot(list(dot_lines(closure_of(HOSTILE))))
    assert set(labels) == {source, target}
    kind, name, preview = labels[target].split("\n")
    assert (kind, name) == ("MemoryUnit", "target")
    assert preview == PREVIEW
    assert label.startswith('step a "quote" \\"')


def test_mermaid_escapes_labels() -> None:
    labels, ((target, source, label),) = read_mermaid(list(mermaid_lines(closure_of(HOSTILE))))
    assert set(labels) == {source, target}
    assert labels[target].split("\n")[2] == PREVIEW
    assert label.startswith('step a "quote" \\"')


@given(st.text(st.characters(codec="utf-8"), max_size=80))
def test_any_label_can_be_read_back(text: str) -> None:
    closure = closure_of(text)
    dot, mermaid = read_dot(list(dot_lines(closure))), read_mermaid(list(mermaid_lines(closure)))
    assert list(dot[0].values()) == list(mermaid[0].values())
    assert [label for *_, label in dot[1]] == [label for *_, label in mermaid[1]]


def test_the_commands_print_all_of_a_closure(stored: Callable[[TraceBuilder], Cli]) -> None:
    cli = stored(assistant(DEFAULT_PROJECT))
    closure = cli("closure", "answer", "--json").json
    labels, edges = read_dot(cli("closure", "answer", "--dot").out.splitlines())
    assert set(labels) == {variable["id"] for variable in closure["variables"]}
    assert sorted(edge[:2] for edge in edges) == sorted(
        (derivation["target"], derivation["source"]) for derivation in closure["derivations"]
    )
    nodes, arrows = read_mermaid(cli("closure", "answer", "--mermaid").out.splitlines())
    assert len(nodes) == len(labels)
    assert len(arrows) == len(edges)
    cli("closure", "answer", "--dot", "--json", code=2)
