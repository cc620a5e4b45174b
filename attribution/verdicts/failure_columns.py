"""The columns of a failure: one declaration that every interface reads.

A new column is one entry of ``FAILURE_COLUMNS``. The command line (``--json``, CSV, tables), GraphQL, web pages and
reports then have it: as a member of the JSON, as a field of GraphQL's ``Failure`` and, if the column has a title, as a
line for people.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, get_type_hints

from attribution.verdicts.gold import on_earlier_gold
from attribution.verdicts.naming import operation_label
from attribution.verdicts.stored import by_id, newest, operations_at_fault, word_on
from schema.kinds import ErrorType, Origin
from schema.models import Attribution, Failure, Operation, Variable, as_json, camel_case, format_time
from store.contract.protocol import GraphStore


@dataclass(frozen=True, slots=True)
class FailureRow:
    """A failure with everything that its columns are read from.

    Attributes:
        verdicts: the verdicts on the failure that the viewer may see, oldest first. Replaced verdicts are included only
            if the viewer asked for them.
        question: the variable that was asked.
        answer: the variable that was answered.
        operations: the operations that the verdicts blame, by id.
    """

    failure: Failure
    verdicts: Sequence[Attribution] = ()
    question: Variable | None = None
    answer: Variable | None = None
    operations: Mapping[str, Operation] = field(default_factory=dict)

    @property
    def verdict(self) -> Attribution | None:
        """The verdict that counts; see ``attribution.verdicts.stored.word_on``."""
        return word_on(self.verdicts, [self.failure]).get(self.failure.id)

    @property
    def operation(self) -> Operation | None:
        """The operation that the verdict that counts blames."""
        verdict = self.verdict
        return self.operations.get(verdict.operation_id or "") if verdict else None


@dataclass(frozen=True, slots=True)
class FailureColumn:
    """A column: its names, its description, and the function that reads the value.

    Attributes:
        name: in snake case; GraphQL's field, the JSON member and the CSV header are the same name in camel case.
        type: of the value: str, int, float, bool, datetime, a closed list of words or a tuple of texts, or None.
        description: a sentence for readers of the GraphQL schema.
        read: takes the value out of a row.
        title: what tables, pages and reports write before the value. A column without a title is not listed for people:
            either every interface lays it out in its own way, or only programs need it.
        words: how people read the value, where that is not the value itself.
    """

    name: str
    type: Any
    description: str
    read: Callable[[FailureRow], Any]
    title: str = ""
    words: Mapping[Any, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The public name: ``goldAnswers``."""
        return camel_case(self.name)

    def as_json(self, row: FailureRow) -> Any:
        """The value of a row as JSON has it: times in ISO 8601, lists instead of tuples."""
        value = self.read(row)
        if isinstance(value, datetime):
            return format_time(value)
        return list(value) if isinstance(value, tuple) else value

    def text(self, value: Any) -> str:
        """A value of this column for people, be it of a row or of JSON; empty for None."""
        if value is None:
            return ""
        if self.type in _TIMES:
            moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
            return f"{moment:%d %b %Y, %H:%M} UTC"
        if isinstance(value, bool):
            return "yes" if value else "no"
        return " / ".join(value) if isinstance(value, list | tuple) else self.words.get(value, str(value))


_TIMES = (datetime, datetime | None)
_STORED = get_type_hints(Failure)


def _stored(name: str, description: str, title: str = "", words: Mapping[Any, str] | None = None) -> FailureColumn:
    """A column that is a field of ``schema.models.Failure``."""
    return FailureColumn(name, _STORED[name], description, lambda row: getattr(row.failure, name), title, words or {})


def _of_verdict(name: str, type_: Any, description: str, title: str = "") -> FailureColumn:
    """A column that is a field of the verdict that counts; None without a verdict."""
    return FailureColumn(name, type_, description, lambda row: getattr(row.verdict, name, None), title)


FAILURE_COLUMNS: tuple[FailureColumn, ...] = (
    _stored("id", "Its id. It is the same in the graph database, on the command line and here."),
    _stored("project_id", "The name of the project."),
    _stored("trace_id", "The id of the trace."),
    _stored(
        "origin",
        "Who says that the answer is wrong: an LLM judge, an annotation in the data, or a user.",
        "Judged wrong by",
        {Origin.JUDGE: "an LLM judge", Origin.ANNOTATION: "an annotation in the data", Origin.USER: "a user"},
    ),
    _stored("question_id", "The id of the variable that holds the question."),
    _stored("answer_id", "The id of the variable that holds the answer."),
    _stored("expected_id", "The id of the variable that holds the gold answers (the known right answers)."),
    _stored("evidence_ids", "The ids of the evidence: messages that state the right answer."),
    _stored("question", "The question's text."),
    _stored("prediction", "The text of the wrong answer that was given."),
    _stored("gold_answers", "The gold answers (the known right answers)."),
    _stored("created_at", "When the failure was recorded.", "Recorded"),
    _stored("attributes", "Other properties from the source (the recorded application or file), unchanged."),
    FailureColumn(
        "question_external_id",
        str | None,
        "The question's id in the source (the recorded application or file).",
        lambda row: row.question and row.question.external_id,
    ),
    FailureColumn(
        "answer_external_id",
        str | None,
        "The answer's id in the source (the recorded application or file).",
        lambda row: row.answer and row.answer.external_id,
    ),
)
"""All columns, in the order of display."""

LISTED: tuple[FailureColumn, ...] = tuple(column for column in FAILURE_COLUMNS if column.title)
"""The columns that tables, pages and reports write as a line: title and text."""


def listed(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Title and text of the columns that are listed for people; a column without a value is left out.

    Args:
        values: the values of a failure by public name, as JSON or as ``FailureColumn.read`` gives them.
    """
    texts = ((column.title, column.text(values.get(column.key))) for column in LISTED)
    return [(title, text) for title, text in texts if text]


VERDICT_COLUMNS: tuple[FailureColumn, ...] = (
    _of_verdict("error_type", ErrorType | None, "Why the answer is wrong; null is an abstention.", "Error type"),
    _of_verdict("confidence", float | None, "How likely the verdict is right, from 0 to 1.", "Confidence"),
    _of_verdict("method", str | None, "How the verdict was found.", "Method"),
    _of_verdict("model", str | None, "The language model that the verdict was found with.", "Model"),
    _of_verdict("author", str | None, "The person who gave the verdict.", "Author"),
    _of_verdict("operation_id", str | None, "The id of the operation at fault."),
    FailureColumn(
        "operation_external_id",
        str | None,
        "The id of the operation at fault in the source.",
        lambda row: row.operation and row.operation.external_id,
    ),
    FailureColumn(
        "operation",
        str | None,
        "The name of the operation at fault.",
        lambda row: row.operation and operation_label(row.operation),
        "Operation at fault",
    ),
    _of_verdict("reason", str | None, "Why, in a sentence.", "Reason"),
    FailureColumn(
        "on_earlier_gold",
        bool | None,
        "Whether the gold answers were changed since the verdict was given.",
        lambda row: row.verdict and on_earlier_gold(row.verdict, row.failure),
        "On an earlier gold answer",
    ),
)
"""Columns of the verdict that counts, for flat tables such as CSV. JSON and GraphQL list all verdicts of a failure."""


def is_stored(column: FailureColumn) -> bool:
    """Whether the column is a field of ``schema.models.Failure``; if not, reading it needs the whole row."""
    return column.name in _STORED


def public(row: FailureRow) -> dict[str, Any]:
    """The JSON members of a failure, without its verdicts."""
    added = {column.key: column.as_json(row) for column in FAILURE_COLUMNS if not is_stored(column)}
    return as_json(row.failure) | added


async def failure_rows(
    store: GraphStore, failures: Iterable[Failure], *, with_replaced: bool = False
) -> list[FailureRow]:
    """Reads everything that the columns of some failures need, in three calls of the store.

    Args:
        store: has the failures.
        failures: the failures.
        with_replaced: whether verdicts that a newer one replaced are read, too; see ``newest``.
    """
    found = list(failures)
    verdicts: dict[str, list[Attribution]] = {failure.id: [] for failure in found}
    for verdict in await store.attributions(list(verdicts)) if found else ():
        verdicts[verdict.failure_id].append(verdict)
    if not with_replaced:
        verdicts = {failure.id: newest(verdicts[failure.id], failure) for failure in found}
    operations = await operations_at_fault(store, (one for many in verdicts.values() for one in many))
    variables = await by_id(store, Variable, (id_ for one in found for id_ in (one.question_id, one.answer_id)))
    return [
        FailureRow(
            failure,
            verdicts[failure.id],
            variables.get(failure.question_id),
            variables.get(failure.answer_id or ""),
            operations,
        )
        for failure in found
    ]
