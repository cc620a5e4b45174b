"""Lists as tables, and single elements as sheets of fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from api.cli.render import style
from api.cli.render.text import counted, label_of, middle, one_line, operation_name, size_of, text_on_line
from attribution.verdicts.failure_columns import FailureRow, listed, public
from attribution.verdicts.gold import on_earlier_gold
from schema.error_type_names import error_type_name
from schema.kinds import ErrorType
from schema.models import Attribution, Failure, Operation, Session, Trace, Variable
from store.contract.answers import SearchHit, Stats

if TYPE_CHECKING:
    from api.cli.listing import ListedAnswer
    from attribution.blame.model import Blamed
    from attribution.report.lost_answers import LosingPrompt
    from ingest.files.protocol import ImportReport

_MOST_SAID = 2000
_SHORT_ID = 8
"""The number of characters of an id that lists show, and the least that a command takes."""
Rows = Iterable[Sequence[Text]]


def table(columns: Sequence[str], rows: Rows, wide: str = "", numbers: Sequence[str] = ()) -> Table:
    """A table without borders, one line a row; the column ``wide`` gets the rest of the width.

    An id is never cut to fewer characters than a command takes.
    """
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=style.DIM)
    for column in columns:
        made.add_column(
            column,
            no_wrap=column != wide,
            overflow="ellipsis",
            justify="right" if column in numbers else "left",
            min_width=12 if column == wide else _SHORT_ID if column == "id" else None,
        )
    for row in rows:
        for cell in row:
            cell.no_wrap = True
        made.add_row(*row)
    return made


def sheet(fields: Iterable[tuple[str, RenderableType | str | None]]) -> Table:
    """The fields of one element below each other, without empty fields."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    made.add_column(style=style.DIM, no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in fields:
        if value is not None and value != "":
            made.add_row(Text(name), Text(one_line(value)) if isinstance(value, str) else value)
    return made


def traces(found: Sequence[tuple[Trace, Mapping[str, int]]]) -> Table:
    """Traces with their counts."""
    labels = ("Session", "Operation", "Variable", "Derivation", "Failure")
    columns = ("id", "trace", "source", "created", *(f"{label.lower()}s" for label in labels))
    named = Counter(trace.name for trace, _ in found)
    return table(
        columns,
        (
            (
                style.id_(trace.id),
                Text(_trace_name(trace, is_shared=named[trace.name] > 1)),
                Text(one_line(trace.source, 24)),
                style.moment(trace.created_at),
                *(Text(f"{counts.get(label, 0):,}") for label in labels),
            )
            for trace, counts in found
        ),
        wide="trace",
        numbers=columns[4:],
    )


def _trace_name(trace: Trace, *, is_shared: bool) -> str:
    """A trace for people; traces of one name are told apart by their ids in the source."""
    if trace.name and is_shared:
        return f"{middle(trace.name, 40)} ({middle(trace.external_id, 24)})"
    return one_line(trace.name or trace.external_id, 60)


def blamed(found: Sequence[Blamed]) -> Table:
    """Elements ranked by the harm that they did, the worst first."""
    columns = ("id", "name", "trace", "failed", "passed", "score")
    return table(
        columns,
        (
            (
                style.id_(one.id),
                Text(one_line(one.name, 60)),
                style.id_(one.trace_id),
                Text(f"{one.failed:,.2f}"),
                Text(f"{one.passed:,}"),
                Text(f"{one.score:.3f}"),
            )
            for one in found
        ),
        numbers=columns[3:],
    )


def prompts(found: Sequence[LosingPrompt]) -> Table:
    """Prompts with the number of wrong answers that each lost."""
    columns = ("id", "prompt", "recorded", "lost answers", "errors")
    return table(
        columns,
        (
            (
                style.id_(one.variable_id),
                Text(middle(one.name, 48)),
                Text(f"{one.recorded:,}"),
                Text(f"{one.failures:,}"),
                Text(
                    ", ".join(
                        f"{count:,} {error_type_name(ErrorType(kind))}" for kind, count in one.error_types.items()
                    )
                ),
            )
            for one in found
        ),
        wide="errors",
        numbers=columns[2:4],
    )


def sessions(found: Sequence[Session], steps: Mapping[str | None, int] | None = None) -> Table:
    """Sessions, each with the number of its operations if this is known."""
    counted_ = () if steps is None else ("operations",)
    return table(
        ("id", "session", "category", "created", *counted_, "comment"),
        (
            (
                style.id_(session.id),
                Text(one_line(session.name or session.external_id, 48)),
                Text(one_line(session.category or "", 32)),
                style.moment(session.created_at),
                *(() if steps is None else (Text(f"{steps.get(session.id, 0):,}"),)),
                Text(one_line(session.comment or "", 200)),
            )
            for session in found
        ),
        wide="comment",
        numbers=counted_,
    )


def operations(found: Sequence[Operation]) -> Table:
    """Operations with status and duration."""
    return table(
        ("id", "kind", "name", "status", "started", "seconds", "comment"),
        (
            (
                style.id_(operation.id),
                style.kind(operation.kind.value),
                Text(operation_name(operation, 48)),
                Text(operation.status.value),
                style.moment(operation.started_at),
                Text(_seconds(operation)),
                Text(one_line(operation.comment or "", 200)),
            )
            for operation in found
        ),
        wide="comment",
        numbers=("seconds",),
    )


def _seconds(operation: Operation) -> str:
    if operation.started_at is None or operation.ended_at is None:
        return ""
    return f"{(operation.ended_at - operation.started_at).total_seconds():.3f}"


def variables(found: Sequence[Variable]) -> Table:
    """Variables with their texts."""
    return table(
        ("id", "kind", "name", "size", "value"),
        (
            (
                style.id_(variable.id),
                style.kind(variable.kind.value),
                Text(label_of(variable, 32)),
                Text(size_of(variable.size)),
                Text(text_on_line(variable.preview, 200)),
            )
            for variable in found
        ),
        wide="value",
        numbers=("size",),
    )


def answers(found: Sequence[ListedAnswer]) -> Table:
    """Answers beside their questions; if the graph shows several possible questions, their number."""
    return table(
        ("id", "question", "size", "judged", "failure", "verdict", "answer"),
        (
            (
                style.id_(one.answer.id),
                _question(one.questions),
                Text(size_of(one.answer.size)),
                _JUDGED[one.answer.right].copy(),
                *_failure(one.failure, one.verdict),
                Text(text_on_line(one.answer.preview, 200)),
            )
            for one in found
        ),
        wide="answer",
        numbers=("size",),
    )


_JUDGED = {None: Text(), True: Text("right", style=style.GOOD), False: Text("wrong", style=style.BAD)}


def _failure(failure: Failure | None, verdict: Attribution | None) -> tuple[Text, Text]:
    if failure is None:
        return Text(), Text()
    return style.id_(failure.id), Text("none yet", style=style.DIM) if verdict is None else _error_type(verdict)


def _error_type(verdict: Attribution) -> Text:
    return Text(error_type_name(verdict.error_type), style=style.BAD)


def _question(found: Sequence[Variable]) -> Text:
    if len(found) == 1:
        return Text(text_on_line(found[0].preview, 60))
    return Text(f"one of {len(found):,}" if found else "not recorded", style=style.DIM)


def hits(found: Sequence[SearchHit], text: str) -> Table:
    """Results of a search for a text, the best first, with the place of the text in what each variable says."""
    return table(
        ("id", "kind", "name", "text"),
        (
            (
                style.id_(hit.variable.id),
                style.kind(hit.variable.kind.value),
                Text(label_of(hit.variable, 32)),
                Text(_found_in(hit, text)),
            )
            for hit in found
        ),
        wide="text",
    )


def _found_in(hit: SearchHit, text: str) -> str:
    """The place of the text in what the variable says; the place in the value itself if only that contains it."""
    from attribution.text.said import said
    from schema.words import snippet, words

    says = said(hit.variable.preview, _MOST_SAID)
    has_word = not {*words(says)}.isdisjoint(words(text))
    return one_line(snippet([says], text) if has_word else hit.snippet, 200)


def imported(report: ImportReport) -> Text:
    """The result of an import of one file, on one line."""
    added = ", ".join(f"{count:,} {label}" for label, count in report.created.items() if count)
    text = Text(one_line(report.file)).append(": trace ").append_text(style.id_(report.trace_id))
    others = len(report.trace_ids) - 1
    if others:
        text.append(f" and {counted(others, 'other')}", style="default")
    text.append(f", {added or 'nothing'} added", style="default")
    present = sum(report.existing.values())
    if present:
        text.append(f", {present:,} there already", style="default")
    return text.append(f"  ({report.seconds:.1f} s)", style=style.DIM)


def failure(row: FailureRow) -> Table:
    """A failure with its verdicts."""
    found = row.failure
    return sheet(
        (
            ("failure", style.id_(found.id)),
            ("question", _said(found.question, found.question_id)),
            ("answer", _said(found.prediction or "", found.answer_id) if found.answer_id else found.prediction),
            ("gold", Text(" | ".join(one_line(gold, 300) for gold in found.gold_answers), style=style.GOOD)),
            ("evidence", counted(len(found.evidence_ids), "message") if found.evidence_ids else None),
            *((title.lower(), text) for title, text in listed(public(row))),
            ("comment", _comment(found)),
            *(("verdict", _verdict(verdict, found, row.operations)) for verdict in row.verdicts),
        )
    )


def _comment(found: Failure) -> str | None:
    """What the person said who reported the failure."""
    said = msgspec.json.decode(found.attributes, type=dict[str, Any]).get("comment")
    return one_line(said, 300) if isinstance(said, str) else None


def _said(text: str, id_: str) -> Text:
    return style.id_(id_).append(" ").append(one_line(text, 300), style="default")


def _verdict(verdict: Attribution, about: Failure, blamed: Mapping[str, Operation]) -> Text:
    text = _error_type(verdict)
    operation = blamed.get(verdict.operation_id or "")
    if operation is not None:
        text.append(" at ", style="default").append_text(style.id_(operation.id))
        text.append(f" {operation_name(operation, 60)}", style="default")
    by = " ".join(part for part in (verdict.method, verdict.model, verdict.author) if part)
    sure = "" if verdict.confidence is None else f", confidence {verdict.confidence:.2f}"
    text.append(f"  ({one_line(by, 80)}{sure})", style=style.DIM)
    if on_earlier_gold(verdict, about):
        text.append(" on an earlier gold answer", style=style.BAD)
    if verdict.reason:
        text.append(f"\n{one_line(verdict.reason, 500)}", style="default")
    return text


def stats(found: Stats) -> list[RenderableType]:
    """Tables of the number of nodes by node label and by kind, and of the bytes of values and graph."""
    parts: list[RenderableType] = [
        table(("elements", "count"), _counts(found.labels), numbers=("count",)),
        *(
            table((f"{label.lower()}s", "count"), _counts(kinds), numbers=("count",))
            for label, kinds in found.kinds.items()
        ),
        sheet(
            (
                ("values", size_of(found.value_bytes)),
                ("graph", size_of(found.graph_bytes)),
                ("total", size_of(found.total_bytes)),
            )
        ),
    ]
    return [piece for part in parts for piece in (part, Text())][:-1]


def queue(found: Mapping[str, Any]) -> RenderableType:
    """The state of the queue of events, from ``api.cli.documents.queue``."""
    oldest = found["oldestSeconds"]
    return sheet(
        (
            ("waiting", f"{found['packets']:,} packets, {size_of(found['bytes'])}"),
            ("oldest", None if oldest is None else f"{oldest:,.1f} s"),
            ("workers", f"{found['workers']:,}"),
            ("dead letters", f"{found['deadLetters']:,}"),
        )
    )


def _counts(counts: Mapping[str, int]) -> Rows:
    return [(Text(name), Text(f"{count:,}")) for name, count in counts.items()]
