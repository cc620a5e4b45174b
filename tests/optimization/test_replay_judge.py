"""Which operations had, lost or passed on the pieces of an answer, and with which text a placebo is made."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from attribution.needed.presence import HOLDS
from optimization.proof.judge import ReplayJudge
from schema.kinds import OperationKind, VariableKind

UPDATE, DELETION, EXTRACTION = OperationKind.UPDATE, OperationKind.DELETION, OperationKind.EXTRACTION
SEARCH = OperationKind.RETRIEVAL


class _Piece:
    """A piece of the answer that some variables have; ``memory`` gives what the memory has of it, by place."""

    def __init__(self, *has: str, memory: dict[int, float] | None = None) -> None:
        self._has, self._memory = frozenset(has), memory or {}

    async def holders(self, ids: Iterable[str]) -> dict[str, Any]:
        return {one: None for one in ids if one in self._has}

    async def current_units(self, sequence: int) -> dict[str, Any]:
        return {str(place): SimpleNamespace(score=score) for place, score in self._memory.items() if place < sequence}


class _Graph:
    """A graph of operations. Each has its inputs by role, and its outputs; a variable's first letter gives its kind."""

    trace_id = "t"

    def __init__(self, **operations: tuple[OperationKind, str, dict[str, str | None], list[str]]) -> None:
        self.store = self
        self._said = operations
        self.operations = {
            id_: SimpleNamespace(id=id_, kind=kind, name=name, sequence=place)
            for place, (id_, (kind, name, _, _)) in enumerate(operations.items())
        }
        kinds = {"q": VariableKind.QUERY, "u": VariableKind.MEMORY_UNIT, "m": VariableKind.MESSAGE}
        names = dict.fromkeys(name for _, _, used, made in operations.values() for name in (*used, *made))
        self.variables = {name: SimpleNamespace(kind=kinds.get(name[0])) for name in names}

    async def usages(self, trace_id: str) -> list[Any]:
        assert trace_id == "t"
        return [
            SimpleNamespace(operation_id=id_, variable_id=name, role=role)
            for id_, (_, _, used, _) in self._said.items()
            for name, role in used.items()
        ]

    def used(self, id_: str) -> list[str]:
        return list(self._said[id_][2])

    def made(self, id_: str) -> list[str]:
        return self._said[id_][3]

    def users(self, name: str) -> list[str]:
        return [id_ for id_, (_, _, used, _) in self._said.items() if name in used]


def judge(graph: _Graph, *pieces: _Piece) -> ReplayJudge:
    return ReplayJudge(cast("Any", graph), cast("Any", None), cast("Any", None), (), cast("Any", pieces))


_LOSER: Any = (UPDATE, "update", {"reply": "decision"}, ["u1"])


@pytest.mark.parametrize(
    ("other", "others"),
    [
        ((UPDATE, "update", {"reply": "decision"}, ["u2"]), True),
        ((DELETION, "delete", {"reply": "decision"}, ["u2"]), True),  # both write to the memory
        ((UPDATE, "create", {"reply": "decision"}, ["u2"]), True),
        ((EXTRACTION, "update", {"reply": "decision"}, ["u2"]), True),  # the same name
        ((EXTRACTION, "extract", {"reply": "decision"}, ["u2"]), False),
        ((UPDATE, "update", {"reply": "message"}, ["u2"]), False),  # an operation with another part of the message
        ((UPDATE, "update", {"reply": None}, ["u2"]), False),
        (
            (UPDATE, "update", {"reply": "decision", "q1": None}, ["u2"]),
            False,
        ),  # another question
        ((UPDATE, "update", {"reply": "decision"}, ["u1"]), False),  # a second operation that lost the piece
        ((UPDATE, "update", {"another": "decision"}, ["u2"]), False),
    ],
)
async def test_a_sibling_shared_the_work_of_an_operation(other: Any, others: bool) -> None:
    graph = _Graph(this=_LOSER, other=other)
    assert await judge(graph, _Piece("reply", "u2")).others_gave("this") is others
    assert await judge(graph, _Piece("u2")).others_gave("this") is False  # the blamed operation was given no reply


async def test_an_operation_alone_has_no_sibling_even_if_it_gave_the_piece_back() -> None:
    assert not await judge(_Graph(this=_LOSER), _Piece("reply", "u1")).others_gave("this")


async def test_siblings_have_the_question_of_the_operation() -> None:
    searches = {
        name: (SEARCH, "search", {"u0": "unit", question: None}, made)
        for name, question, made in (("this", "q1", ["u1"]), ("same", "q1", ["u2"]), ("other", "q2", ["u3"]))
    }
    graph = _Graph(**cast("Any", searches))
    assert await judge(graph, _Piece("u0", "u2")).others_gave("this")
    assert not await judge(graph, _Piece("u0", "u3")).others_gave("this")


async def test_all_pieces_must_be_given_back_and_one_is_enough_to_have_had_something() -> None:
    graph = _Graph(this=(EXTRACTION, "extract", {"m1": None, "m2": None}, ["x1", "x2"]))
    first, second, lost = _Piece("m1", "x1"), _Piece("x2"), _Piece("m2")
    assert await judge(graph, first, second).gave("this")
    assert not await judge(graph, first, lost).gave("this")
    assert not await judge(graph).gave("this")
    assert await judge(graph, second, lost).had("this")
    assert not await judge(graph, second).had("this")
    assert not await judge(graph).had("this")


async def test_a_search_had_what_the_memory_had_by_then() -> None:
    graph = _Graph(
        before=(SEARCH, "search", {"q1": None}, []),
        change=(UPDATE, "update", {}, ["u1"]),
        after=(SEARCH, "search", {"q1": None}, []),
    )
    whole, part = _Piece("u1", memory={1: HOLDS}), _Piece("u1", memory={1: HOLDS - 0.01})
    assert [await judge(graph, whole).had(one) for one in ("before", "after")] == [False, True]
    assert not await judge(graph, part).had("after")
    assert not await judge(graph, whole).had("change")  # only a search looks into the memory


@pytest.mark.parametrize("kind", [UPDATE, DELETION, SEARCH, EXTRACTION])
async def test_only_what_changes_the_memory_had_a_unit(kind: OperationKind) -> None:
    graph = _Graph(this=(kind, "step", {"u1": None, "m1": None}, []))
    assert await judge(graph, _Piece(), _Piece("u1")).had_unit("this") is (kind in {UPDATE, DELETION})
    assert not await judge(graph, _Piece("m1")).had_unit("this")
    assert not await judge(graph).had_unit("this")


class _Told(_Graph):
    def __init__(self, *texts: str) -> None:
        super().__init__()
        self._texts = {f"m{place}": text for place, text in enumerate(texts)}
        self.variables = {one: SimpleNamespace(kind=None, sequence=place) for place, one in enumerate(self._texts)}

    async def texts(self, ids: Iterable[str]) -> dict[str, str]:
        return {one: self._texts[one] for one in ids}


@pytest.mark.parametrize(
    ("texts", "holders", "placebo"),
    [
        (["The dog is Bo", "The dog sleeps", "Rain again", "Snow again"], [], "Rain again"),
        (["The dog is Bo", "Rain again", "Snow again"], ["m1"], "Snow again"),  # has a piece, in other words
        (["The dog is Bo", "  ", "What a dog"], [], "What a dog"),
        (["The dog is Bo", " "], [], "The weather was mild that day."),
        (["The dog is Bo"], [], "The weather was mild that day."),
    ],
)
async def test_a_placebo_shares_the_fewest_words_with_question_and_evidence(
    texts: list[str], holders: list[str], placebo: str
) -> None:
    graph, messages = _Told(*texts), SimpleNamespace(sentences=dict.fromkeys(f"m{one}" for one in range(len(texts))))
    failure = SimpleNamespace(question="What is the dog called?")
    of = ReplayJudge(*cast("Any", (graph, messages, failure, ["m0"], [_Piece(*holders)])))
    assert await of.told() == texts[0]
    assert await of.irrelevant() == placebo
