"""Right answers, presented as failures: a good method finds no memory error in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ingest.files.smartcomment import leftover
from schema.errors import InputError, NotFoundError
from schema.ids import make_id
from schema.kinds import OperationKind, Origin, VariableKind
from schema.models import Failure, Variable
from schema.readable import readable
from store.contract.answers import Closure, Direction, Label
from store.contract.protocol import GraphStore
from store.shared.paging import elements


async def control_failures(store: GraphStore, trace_id: str, records: Sequence[Any], source: str) -> list[Failure]:
    """Turn controls into the failures that they would be if their judges had said no.

    The answer is the newest occurrence made by the question's operations. The gold answers are the judge's. The
    evidence is named by the question. An import treats failures in the same way.

    Args:
        store: holds the graph.
        trace_id: of the graph.
        records: ``data.controls``, each with ``query_id`` and ``prediction_id``, both external ids.
        source: the file, for errors.

    Raises:
        InputError: a record is no object, or names an element that is not in the graph.
    """
    finder = _Finder(store, trace_id, source, await _latest_messages(store, trace_id) if records else {})
    return [await finder.failure(record, f"data.controls[{position}]") for position, record in enumerate(records)]


async def _latest_messages(store: GraphStore, trace_id: str) -> dict[str, str]:
    """The id of the newest version of each message, by name."""
    messages = await elements(store, Variable, trace_id, [VariableKind.MESSAGE.value])
    return {message.name: message.id for message in messages if not message.occurrence}


@dataclass(frozen=True, slots=True)
class _Finder:
    store: GraphStore
    trace_id: str
    source: str
    latest: Mapping[str, str]

    async def failure(self, record: Any, place: str) -> Failure:
        if not isinstance(record, dict):
            raise InputError(self.source, place, "Expected 'object'")
        question = await self._variable(record, "query_id", place)
        named = await self._variable(record, "prediction_id", place)
        future = await self.store.closure([question.id], Direction.FORWARD)
        meant = [variable for variable in future.variables if variable.external_id == named.external_id]
        answer = max(meant, key=lambda variable: variable.occurrence) if meant else named
        gold = await self._gold_answer(future, answer)
        return Failure(
            id=make_id("Failure", self.trace_id, question.id, answer.id),
            project_id=question.project_id,
            trace_id=self.trace_id,
            origin=Origin.JUDGE,
            question_id=question.id,
            answer_id=answer.id,
            expected_id=None if gold is None else gold.id,
            evidence_ids=tuple(self._evidence(question)),
            question=await self._text(question),
            prediction=await self._text(answer),
            gold_answers=() if gold is None else (await self._text(gold),),
            created_at=None,
        )

    async def _variable(self, record: dict[str, Any], key: str, place: str) -> Variable:
        reference = record.get(key)
        try:
            found = await self.store.resolve(str(reference), Label.VARIABLE, self.trace_id)
        except NotFoundError:
            found = None
        if not isinstance(found, Variable) or found.external_id != reference:
            raise InputError(self.source, f"{place}.{key}", f"variable {reference!r} is not in the file")
        return found

    async def _gold_answer(self, future: Closure, answer: Variable) -> Variable | None:
        """The gold answers of the judge of an answer. The judge is in the question's future."""
        users = {derivation.operation_id for derivation in future.derivations if derivation.source == answer.id}
        for operation in future.operations:
            if operation.kind is OperationKind.JUDGE and operation.id in users:
                for used in (await self.store.operation(operation.id)).used:
                    if used.kind is VariableKind.GOLD_ANSWER:
                        return used
        return None

    def _evidence(self, question: Variable) -> list[str]:
        """Ids of the messages that the question's metadata names."""
        metadata, _ = leftover.split(question.attributes)
        named = metadata.get("evidence")
        names = named if isinstance(named, list) else []
        return list(dict.fromkeys(self.latest[name] for name in names if isinstance(name, str) and name in self.latest))

    async def _text(self, variable: Variable) -> str:
        return readable((await self.store.value(variable)).decode())
