"""Finds failures and right answers in a recorded trace, from its judges' scores and its annotations.

A failed question is one failure, even if both a judge and annotations report it: the failure's id is made from the
question and from the answer that this question's operation made. An answer is right if a judge said yes and no failure
has the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ingest.files.smartcomment.build import Built
from ingest.files.smartcomment.recorded import RecordedFile
from schema.ids import make_id
from schema.kinds import HUMAN_METHOD, ErrorType, OperationKind, Origin, VariableKind
from schema.models import WHOLE_VALUE_BYTES, Attribution, Failure
from schema.readable import readable

ANNOTATION_AUTHOR = "annotation"
_NO = frozenset({"0", "false", "no", "wrong", "incorrect", "none"})
_YES = frozenset({"1", "true", "yes", "right", "correct"})
ERROR_TYPE_ALIASES = {"JudgeError": ErrorType.JUDGE}


@dataclass(slots=True)
class _JudgedQuestion:
    """A question with the answer that was judged; the numbers are positions of instances."""

    question: int
    answer: int | None
    expected: int | None
    judge: int | None = None
    evidence: list[str] = field(default_factory=list)
    annotations: list[tuple[int, dict[str, Any]]] = field(default_factory=list)


def add_failures(recorded: RecordedFile, built: Built) -> None:
    """Add the failures of a file, the verdicts of its annotations, and its right answers to the batch.

    Raises:
        InputError: an annotation names something that is not in the file, or an error type that does not exist.
    """
    finder = _Finder(recorded, built)
    questions = finder.judged()
    for position, record in enumerate(recorded.file.annotations):
        judged = finder.annotated(position, record)
        questions.setdefault((judged.question, judged.answer), judged)
        known = questions[judged.question, judged.answer]
        known.annotations.append((position, record))
        known.evidence = judged.evidence or known.evidence
        known.expected = known.expected if known.expected is not None else judged.expected
    for judged in questions.values():
        failure = finder.failure(judged)
        built.batch.failures.append(failure)
        built.batch.attributions.extend(finder.verdicts(failure, judged))
    wrong = {failure.answer_id for failure in built.batch.failures}
    built.batch.right_answers.extend(id_ for id_ in finder.judged_right() if id_ not in wrong)


class _Finder:
    def __init__(self, recorded: RecordedFile, built: Built) -> None:
        self.recorded = recorded
        self.built = built
        self.count = len(recorded.nodes)
        self.edges: list[list[int]] = [[] for _ in recorded.operations]
        for edge, operation in enumerate(recorded.edge_operations):
            self.edges[operation].append(edge)
        self.latest: dict[str, int] = {}
        for position, node in enumerate(recorded.nodes):
            if built.kinds[position] is VariableKind.MESSAGE:
                self.latest[node.record.name] = position
        self.operation_ids = {
            e.record.op_id: o.id for e, o in zip(recorded.operations, built.batch.operations, strict=True)
        }

    def judged(self) -> dict[tuple[int, int | None], _JudgedQuestion]:
        """The failures that judges found: operations of kind Judge whose score is 0 or a no."""
        questions: dict[tuple[int, int | None], _JudgedQuestion] = {}
        for operation in self._judges():
            if self._said(operation, _is_no):
                judged = self._judged_question(operation)
                if judged:
                    questions.setdefault((judged.question, judged.answer), judged)
        return questions

    def judged_right(self) -> list[str]:
        """Ids of the answers that a judge called right; empty if a score exceeds 1, as 1 may then be a bad score."""
        if any((_number(text) or 0) > 1 for operation in self._judges() for text in self._scores(operation)):
            return []
        questions = (self._judged_question(operation) for operation in self._judges() if self._said(operation, _is_yes))
        answers = dict.fromkeys(
            judged.answer for judged in questions if judged is not None and judged.answer is not None
        )
        kinds = self.built.kinds
        return [self.built.instances[one] for one in answers if kinds[self._recorded(one)] is VariableKind.ANSWER]

    def _judges(self) -> Iterator[int]:
        return (number for number, kind in enumerate(self.built.operation_kinds) if kind is OperationKind.JUDGE)

    def _said(self, operation: int, is_meant: Callable[[str], bool]) -> bool:
        scores = self._scores(operation)
        return bool(scores) and all(map(is_meant, scores))

    def _scores(self, operation: int) -> list[str]:
        kinds, nodes = self.built.kinds, self.recorded.nodes
        targets = dict.fromkeys(self.recorded.targets[edge] for edge in self.edges[operation])
        return [nodes[target].text for target in targets if kinds[target] is VariableKind.SCORE]

    def _judged_question(self, operation: int) -> _JudgedQuestion | None:
        found: dict[VariableKind, int] = {}
        for edge in self.edges[operation]:
            kind = self.built.kinds[self.recorded.sources[edge]]
            found.setdefault(kind, self.built.exact.sources[edge])
        question = found.get(VariableKind.QUERY)
        if question is None:
            return None
        answer = found.get(VariableKind.ANSWER, found.get(VariableKind.RESPONSE))
        judged = _JudgedQuestion(question, answer, found.get(VariableKind.GOLD_ANSWER), operation)
        metadata = msgspec.json.decode(self.recorded.nodes[self._recorded(question)].metadata)
        named = metadata.get("evidence")
        judged.evidence = [
            self.built.instances[self.latest[name]]
            for name in (named if isinstance(named, list) else [])
            if isinstance(name, str) and name in self.latest
        ]
        return judged

    def annotated(self, position: int, record: dict[str, Any]) -> _JudgedQuestion:
        """The failure that an annotation of MemTraceBench describes."""
        place = f"data.annotations[{position}]"
        question = self._node(record, "query_id", place)
        if question is None:
            raise self.recorded.file.bad(f"{place}.query_id", "an annotation must name its question")
        judged = _JudgedQuestion(question, None, self._node(record, "golden_answers_id", place))
        answer = self._node(record, "prediction_id", place)
        if answer is not None:
            judged.answer = self._answer_of(question, answer)
        evidence = record.get("source_evidence_ids") or []
        if not isinstance(evidence, list):
            raise self.recorded.file.bad(f"{place}.source_evidence_ids", "Expected 'array'")
        for key in evidence:
            if not isinstance(key, str) or key not in self.recorded.node_index:
                raise self.recorded.file.bad(f"{place}.source_evidence_ids", f"variable {key!r} is not in the file")
            judged.evidence.append(self.built.instances[self.recorded.node_index[key]])
        return judged

    def _node(self, record: dict[str, Any], key: str, place: str) -> int | None:
        value = record.get(key)
        if value is None:
            return None
        position = self.recorded.node_index.get(value) if isinstance(value, str) else None
        if position is None:
            raise self.recorded.file.bad(f"{place}.{key}", f"variable {value!r} is not in the file")
        return position

    def _answer_of(self, question: int, answer: int) -> int:
        """The newest occurrence of the answer's text that derives from the question."""
        exact = self.built.exact
        bit = 1 << exact.question_positions.index(question) if question in exact.question_positions else 0
        instances = [answer] + [
            self.count + i for i, occurrence in enumerate(exact.occurrences) if occurrence.variable == answer
        ]
        meant = [instance for instance in instances if exact.questions[instance] & bit]
        return meant[-1] if meant else answer

    def failure(self, judged: _JudgedQuestion) -> Failure:
        """The failure element of a wrongly answered question."""
        batch, instances = self.built.batch, self.built.instances
        question_id = instances[judged.question]
        answer_id = None if judged.answer is None else instances[judged.answer]
        question = self._value(judged.question)
        annotated = judged.annotations[0][1] if judged.annotations else {}
        gold = annotated.get("golden_answers")
        if gold is None and judged.expected is not None:
            gold = self._value(judged.expected)
        judge = None if judged.judge is None else batch.operations[judged.judge]
        attributes: dict[str, Any] = {}
        if judged.annotations:
            attributes["annotations"] = [
                {"position": position, "record": record} for position, record in judged.annotations
            ]
        return Failure(
            id=make_id("Failure", batch.trace.id, question_id, answer_id or ""),
            project_id=batch.trace.project_id,
            trace_id=batch.trace.id,
            origin=Origin.ANNOTATION if judged.annotations else Origin.JUDGE,
            question_id=question_id,
            answer_id=answer_id,
            expected_id=None if judged.expected is None else instances[judged.expected],
            evidence_ids=tuple(dict.fromkeys(judged.evidence)),
            question=question or "",
            prediction=None if judged.answer is None else self._value(judged.answer),
            gold_answers=_texts(gold),
            created_at=judge.started_at if judge else None,
            attributes=msgspec.json.encode(attributes).decode(),
        )

    def verdicts(self, failure: Failure, judged: _JudgedQuestion) -> Iterator[Attribution]:
        """The verdicts of the annotations; a record whose labels are null has none."""
        for position, record in judged.annotations:
            place = f"data.annotations[{position}]"
            name = record.get("final_error_type")
            operation = record.get("final_op_id")
            if name is None:
                continue
            if operation is not None and not (isinstance(operation, str) and operation in self.operation_ids):
                raise self.recorded.file.bad(f"{place}.final_op_id", f"operation {operation!r} is not in the file")
            reason = record.get("reason") or record.get("final_reason")
            yield Attribution(
                id=make_id("Attribution", failure.id, HUMAN_METHOD, str(position)),
                project_id=failure.project_id,
                trace_id=failure.trace_id,
                failure_id=failure.id,
                error_type=self._error_type(name, place),
                operation_id=None if operation is None else self.operation_ids[operation],
                confidence=None,
                method=HUMAN_METHOD,
                model=None,
                reason=reason if isinstance(reason, str) else None,
                evidence="[]",
                candidates="[]",
                tokens=None,
                cost=None,
                seconds=None,
                created_at=failure.created_at,
                author=ANNOTATION_AUTHOR,
            )

    def _error_type(self, name: Any, place: str) -> ErrorType:
        if isinstance(name, str) and name in ERROR_TYPE_ALIASES:
            return ERROR_TYPE_ALIASES[name]
        try:
            return ErrorType(name)
        except ValueError as error:
            known = ", ".join(ErrorType)
            raise self.recorded.file.bad(f"{place}.final_error_type", f"{name!r} is none of {known}") from error

    def _recorded(self, instance: int) -> int:
        if instance < self.count:
            return instance
        return self.built.exact.occurrences[instance - self.count].variable

    def _value(self, instance: int) -> str:
        position = self._recorded(instance)
        node = self.recorded.nodes[position]
        # ``node.text`` has only the beginning of a long value.
        return readable(node.text if node.size <= WHOLE_VALUE_BYTES else self.recorded.file.value(position))


def _is_no(text: str) -> bool:
    return _word(text) in _NO if (number := _number(text)) is None else number == 0


def _is_yes(text: str) -> bool:
    return _word(text) in _YES if (number := _number(text)) is None else number == 1


def _word(text: str) -> str:
    return readable(text).strip().lower()


def _number(text: str) -> float | None:
    try:
        return float(_word(text))
    except ValueError:
        return None


def _texts(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, list):
        return tuple(item if isinstance(item, str) else msgspec.json.encode(item).decode() for item in value)
    return (value if isinstance(value, str) else msgspec.json.encode(value).decode(),)


def annotations_of(failure: Failure) -> list[tuple[int, dict[str, Any]]]:
    """The records of a failure's annotations, each with its position in the file."""
    attributes = msgspec.json.decode(failure.attributes)
    return [(item["position"], item["record"]) for item in attributes.get("annotations", ())]
