"""The rules of the repair, one by one, on graphs small enough to be read."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from ingest.files.smartcomment.repair import ExactGraph, RecordedGraph, closing_edge, repair, sequence_of_instances

Edge = tuple[str, str, str]


class Small:
    """A graph with letters as ids: edges (source, target, operation); an operation's name is its id without digits."""

    def __init__(
        self, edges: list[Edge], questions: str = "", sessions: dict[str, int] | None = None, nodes: str = ""
    ) -> None:
        self.edges = edges
        names = [*nodes, *(name for source, target, _ in edges for name in (source, target))]
        self.names: list[str] = list(dict.fromkeys(names))
        operations = list(dict.fromkeys(operation for _, _, operation in edges))
        signatures = sorted({operation.rstrip("0123456789") for operation in operations})
        self.operations = operations
        where = sessions or {}
        self.graph = RecordedGraph(
            [self.names.index(source) for source, _, _ in edges],
            [self.names.index(target) for _, target, _ in edges],
            [operations.index(operation) for _, _, operation in edges],
            [where.get(name, 0) for name in self.names],
            [where.get(operation, 0) for operation in operations],
            [signatures.index(operation.rstrip("0123456789")) for operation in operations],
            [name in questions for name in self.names],
        )
        self.exact: ExactGraph = repair(self.graph)

    def label(self, instance: int) -> str:
        if instance < len(self.names):
            return self.names[instance]
        occurrence = self.exact.occurrences[instance - len(self.names)]
        return f"{self.names[occurrence.variable]}#{occurrence.number}"

    def bound(self) -> list[str]:
        return [
            f"{self.label(source)}>{self.label(target)}"
            for source, target in zip(self.exact.sources, self.exact.targets, strict=True)
        ]

    def reads(self) -> list[str]:
        return [f"{self.names[o.variable]}#{o.number}" for o in self.exact.occurrences if o.is_read]

    def past(self, label: str) -> set[str]:
        """The causal past by the exact edges."""
        edges = list(zip(self.exact.sources, self.exact.targets, strict=True))
        first = len(self.names)
        edges += [(o.variable, first + i) for i, o in enumerate(self.exact.occurrences) if o.is_read]
        instances = range(first + len(self.exact.occurrences))
        waiting = [next(i for i in instances if self.label(i) == label)]
        found = set(waiting)
        while waiting:
            here = waiting.pop()
            for source, target in edges:
                if target == here and source not in found:
                    found.add(source)
                    waiting.append(source)
        return {self.label(instance) for instance in found}


def test_what_nobody_shares_stays_as_it_is() -> None:
    small = Small([("m", "f", "extract"), ("f", "u", "add"), ("u", "v", "update")])
    assert small.bound() == ["m>f", "f>u", "u>v"]
    assert small.exact.occurrences == []


def test_a_read_is_no_write() -> None:
    """add makes u, and two searches read it: each answer derives only from its own query."""
    small = Small(
        [
            ("m", "u", "add"),
            ("q", "u", "search1"),
            ("p", "u", "search2"),
            ("u", "c", "answer1"),
            ("q", "c", "answer1"),
            ("u", "d", "answer2"),
            ("p", "d", "answer2"),
        ],
        questions="qp",
    )
    assert small.bound() == ["m>u", "q>u#1", "p>u#2", "u#1>c", "q>c", "u#2>d", "p>d"]
    assert small.reads() == ["u#1", "u#2"]
    assert small.past("c") == {"c", "u#1", "u", "m", "q"}
    assert small.past("d") == {"d", "u#2", "u", "m", "p"}


def test_what_no_operation_made_is_read_too() -> None:
    """u was used before any edge ran into it, so the search did not make it."""
    small = Small([("u", "x", "use"), ("q", "u", "search"), ("u", "c", "answer"), ("q", "c", "answer")], questions="q")
    assert small.bound() == ["u>x", "q>u#1", "u#1>c", "q>c"]
    assert small.reads() == ["u#1"]


def test_what_was_recorded_in_another_session_is_read() -> None:
    small = Small([("q", "u", "search")], questions="q", sessions={"u": 1}, nodes="u")
    assert small.bound() == ["q>u#1"]
    assert small.reads() == ["u#1"]


def test_equal_text_made_again_is_another_variable() -> None:
    """Two answers of one text: the second is an occurrence that does not derive from the first."""
    small = Small(
        [
            ("q", "a", "answer1"),
            ("p", "a", "answer2"),
            ("a", "r", "judge1"),
            ("q", "r", "judge1"),
            ("a", "s", "judge2"),
            ("p", "s", "judge2"),
        ],
        questions="qp",
    )
    assert small.bound() == ["q>a", "p>a#1", "a>r", "q>r", "a#1>s", "p>s"]
    assert small.reads() == []
    assert small.past("s") == {"s", "a#1", "p"}


def test_an_operation_uses_what_it_made_itself() -> None:
    """Two steps inside one operation: its own instance comes before every other rule."""
    small = Small(
        [("q", "r", "search1"), ("r", "l", "search1"), ("p", "r", "search2"), ("r", "k", "search2")], questions="qp"
    )
    assert small.bound() == ["q>r", "r>l", "p>r#1", "r#1>k"]


def test_the_newest_of_one_question_is_meant() -> None:
    """A second search of the same question reads the unit again: the answer uses the last read."""
    small = Small(
        [
            ("m", "u", "add"),
            ("q", "u", "search1"),
            ("u", "n", "refine"),
            ("n", "u", "search2"),
            ("q", "n", "refine"),
            ("u", "c", "answer"),
            ("q", "c", "answer"),
        ],
        questions="q",
    )
    assert small.bound()[-2] == "u#2>c"


def test_a_question_is_found_through_inputs_of_one_occurrence() -> None:
    """The answer has no edge from the query: the path goes through the ranked list, which only this search made."""
    small = Small(
        [
            ("m", "u", "add"),
            ("q", "k", "rank1"),
            ("k", "u", "final1"),
            ("p", "l", "rank2"),
            ("l", "u", "final2"),
            ("u", "c", "answer1"),
            ("k", "c", "answer1"),
            ("u", "d", "answer2"),
            ("l", "d", "answer2"),
        ],
        questions="qp",
    )
    assert small.bound()[-4:] == ["u#1>c", "k>c", "u#2>d", "l>d"]


def test_without_a_question_the_rarest_shared_input_decides() -> None:
    """Two messages gave the same empty facts; t is used by everybody, m and n by one pair each."""
    small = Small(
        [
            ("m", "f", "extract1"),
            ("t", "f", "extract1"),
            ("n", "f", "extract2"),
            ("t", "f", "extract2"),
            ("f", "x", "decide1"),
            ("t", "x", "decide1"),
            ("n", "x", "decide1"),
            ("f", "y", "decide2"),
            ("t", "y", "decide2"),
            ("m", "y", "decide2"),
        ]
    )
    assert small.bound()[4] == "f#1>x"
    assert small.bound()[7] == "f>y"


def test_without_any_clue_the_first_is_meant() -> None:
    small = Small([("m", "f", "extract1"), ("n", "f", "extract2"), ("f", "x", "decide")])
    assert small.bound()[-1] == "f>x"


def test_later_occurrences_are_not_meant() -> None:
    """An input is never bound to an occurrence that is made after the use."""
    small = Small(
        [("m", "u", "add"), ("q", "u", "search1"), ("u", "c", "answer1"), ("q", "c", "answer1"), ("q", "u", "search2")],
        questions="q",
    )
    assert small.bound()[2] == "u#1>c"


def test_the_edge_that_closes_a_cycle() -> None:
    assert closing_edge(3, [0, 1, 0], [1, 2, 2]) is None
    assert closing_edge(3, [0, 1, 2, 0], [1, 2, 0, 2]) == 2
    assert closing_edge(2, [0, 1], [0, 1]) == 0
    assert closing_edge(0, [], []) is None


@st.composite
def acyclic(draw: st.DrawFn) -> tuple[list[Edge], str]:
    """Random recorded graphs: edges from earlier to later letters, and reads backward that close no cycle."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    letters = "abcdefghijkl"
    rank = {letter: rng.random() for letter in letters}
    edges = []
    for _ in range(rng.randrange(1, 30)):
        source, target = sorted(rng.sample(letters, 2), key=rank.__getitem__)
        edges.append((source, target, f"{rng.choice(['op', 'search', 'make'])}{rng.randrange(8)}"))
    return edges, "".join(rng.sample(letters, 3))


@given(acyclic(), st.booleans())
def test_any_graph_stays_acyclic_and_in_order(case: tuple[list[Edge], str], in_reverse: bool) -> None:
    edges, questions = case
    small = Small(edges, questions, nodes="lkjihgfedcba" if in_reverse else "")
    places = sequence_of_instances(small.graph, small.exact)
    count = len(small.names)
    assert sorted(places) == list(range(count + len(small.exact.occurrences)))
    reads = [(o.variable, count + i) for i, o in enumerate(small.exact.occurrences) if o.is_read]
    for source, target in [*zip(small.exact.sources, small.exact.targets, strict=True), *reads]:
        assert places[source] < places[target]


@given(acyclic(), st.integers(0, 29))
def test_a_longer_stage_keeps_what_was(case: tuple[list[Edge], str], length: int) -> None:
    """Occurrences and bindings of a prefix are those of the whole, when the prefix ends between operations."""
    edges, questions = case
    edges.sort(key=lambda edge: edge[2])
    cut = next((i for i in range(length, len(edges)) if i and edges[i][2] != edges[i - 1][2]), len(edges))
    nodes = "abcdefghijkl"
    whole, part = Small(edges, questions, nodes=nodes), Small(edges[:cut], questions, nodes=nodes)
    count = len(part.exact.occurrences)
    identities = [(o.variable, part.operations[o.operation], o.is_read, o.number) for o in part.exact.occurrences]
    assert identities == [
        (o.variable, whole.operations[o.operation], o.is_read, o.number) for o in whole.exact.occurrences[:count]
    ]
