"""Answers that no longer had what an earlier turn told, because the program left the turn out of the history."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from attribution.free_pass.earlier_questions import lost_since, told_earlier
from attribution.needed.content import Rarity, content
from schema.kinds import ErrorType, OperationKind, VariableKind

GOLD = content("the harbour festival", Rarity(()))


def _variable(id_: str, sequence: int, kind: VariableKind = VariableKind.QUERY) -> Any:
    return SimpleNamespace(id=id_, sequence=sequence, kind=kind)


class _Graph:
    """Turns with their texts, and operations that were given the turn ``t``."""

    def __init__(self, texts: dict[str, str], users: dict[str, OperationKind], answered_by: str | None) -> None:
        self._texts = texts
        kinds = {"message": VariableKind.MESSAGE}
        self.variables = {
            one: _variable(one, number, kinds.get(one, VariableKind.QUERY)) for number, one in enumerate(texts)
        }
        self.operations = {one: SimpleNamespace(kind=kind) for one, kind in users.items()}
        self._answer = SimpleNamespace(id="answer", operation_id=answered_by)

    async def texts(self, ids: Any) -> dict[str, str]:
        return {one: self._texts[one] for one in ids}

    def users(self, variable_id: str) -> list[str]:
        assert variable_id == "t"
        return list(self.operations)

    def reply(self, answer_id: str) -> Any:
        assert answer_id == "a"
        return self._answer


def _tried(texts: dict[str, str], users: Any = None, answered_by: str | None = "answering") -> Any:
    failure = SimpleNamespace(question_id="asked", answer_id="a")
    return SimpleNamespace(graph=_Graph(texts, users or {}, answered_by), failure=failure)


TOLD = "I met Leo at the harbour festival."


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        ({"t": TOLD, "asked": "Where?"}, "t"),
        ({"t": TOLD, "u": TOLD, "asked": "Where?"}, "u"),
        ({"t": TOLD, "u": "I like tea.", "asked": "Where?"}, "t"),
        ({"t": "I like tea.", "asked": "Where?"}, None),
        ({"asked": TOLD}, None),
        ({"asked": "Where?", "t": TOLD}, None),
        ({"message": TOLD, "asked": "Where?"}, None),
    ],
)
async def test_the_newest_earlier_turn_that_tells_the_answer(texts: dict[str, str], wanted: str | None) -> None:
    assert await told_earlier(_tried(texts), GOLD) == wanted


MODEL, SEARCH = OperationKind.GENERATION, OperationKind.RETRIEVAL


@pytest.mark.parametrize(
    ("users", "answered_by", "blamed"),
    [
        ({"first": MODEL}, "answering", "answering"),
        ({"first": SEARCH, "second": MODEL}, "answering", "answering"),
        ({"first": SEARCH}, "answering", None),
        ({}, "answering", None),
        ({"first": MODEL}, None, None),
    ],
)
async def test_the_call_that_answered_was_not_given_what_an_earlier_call_of_a_model_had(
    users: dict[str, OperationKind], answered_by: str | None, blamed: str | None
) -> None:
    tried = _tried({"t": TOLD, "asked": "Where?"}, users, answered_by)
    found = await lost_since(tried, "t", GOLD, [])
    if blamed is None:
        assert found is None
        return
    assert found is not None
    assert (found.error_type, found.operation_id, found.likelihood) == (ErrorType.DELETION, blamed, 0.9)
    assert found.is_local
    assert found.reason == (
        "no longer in the prompt: an earlier call was given the turn with the right answer, and the call that answered "
        "was not; the program left it out of the history"
    )
