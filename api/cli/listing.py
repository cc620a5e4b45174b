"""Commands that list operations, sessions and answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from api.cli.columns import OTHERS
from api.cli.context import Target
from api.cli.filters import Has, Wanted, listing
from api.cli.narrowing import EVERYWHERE, in_time, is_meant, narrowed
from api.cli.next_steps import NO_ANSWER
from api.cli.output import Output
from schema.kinds import HUMAN_METHOD, OperationKind, Status, VariableKind

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from schema.models import Attribution, Failure, Operation, Session, Variable
    from store.contract.answers import Span
    from store.contract.protocol import GraphStore

commands = typer.Typer()


_AT_ONCE = 100
"""Number of answers whose questions are read at the same time."""

E = TypeVar("E", "Session", "Operation", "Variable")


@dataclass(frozen=True, slots=True)
class ListedAnswer:
    """An answer with its question, failure and verdict.

    Attributes:
        questions: what the answer may belong to; a single question is its question.
        failure: if the answer was judged wrong.
        verdict: the verdict on the failure that counts.
        is_labelled: whether a person has given a verdict.
    """

    answer: Variable
    questions: Sequence[Variable]
    failure: Failure | None
    verdict: Attribution | None
    is_labelled: bool = False

    @property
    def is_right(self) -> bool:
        """Whether the answer was judged right, and no failure says otherwise."""
        return self.failure is None and self.answer.right is True


@listing(commands, Has.TRACE, Has.TEXT, Has.TIME)
async def operations(
    place: Target,
    wanted: Wanted,
    kind: Annotated[
        list[OperationKind] | None,
        typer.Option("--kind", case_sensitive=False, help="Only operations of this kind; may be repeated."),
    ] = None,
    status: Annotated[
        Status | None,
        typer.Option("--status", case_sensitive=False, help="Only operations with this status."),
    ] = None,
) -> None:
    """List operations with status and duration, ordered by trace. --sort takes duration, too."""
    from api.cli.listed import Listing, show_list
    from api.cli.render import tables
    from schema.models import Operation, public_names
    from schema.models import as_json as public

    listed: Listing[Operation] = Listing(
        columns=public_names(Operation),
        brief=("id", "kind", "name", "status", "startedAt"),
        document=public,
        show=lambda found: Output().show(tables.operations(found)),
        nothing="There are no such operations.",
        texts=lambda one: (one.name, one.comment, one.category),
        names=lambda one: (one.id,),
        time="startedAt",
        others=OTHERS["operations"],
        computed={"duration": _seconds},
    )
    kinds, statuses = [one.value for one in kind or ()], [status.value] if status else []
    async with place.open() as store:
        where = await narrowed(store, wanted, lambda one: isinstance(one, Operation))
        found = in_traces(store, Operation, where.trace, kinds, statuses, wanted.when)
        await show_list(listed, wanted, where, found)


def _seconds(step: Operation) -> float | None:
    """How long a step took; None if it is not known."""
    return (step.ended_at - step.started_at).total_seconds() if step.started_at and step.ended_at else None


@listing(commands, Has.TRACE, Has.TEXT, Has.TIME)
async def sessions(place: Target, wanted: Wanted) -> None:
    """List sessions, the named stages of traces such as a conversation, ordered by trace."""
    from api.cli.listed import Listing, show_list
    from api.cli.render import tables
    from schema.models import Session, public_names
    from schema.models import as_json as public

    listed: Listing[Session] = Listing(
        columns=public_names(Session),
        others=OTHERS["sessions"],
        brief=("id", "name", "category", "createdAt"),
        document=public,
        show=lambda found: Output().show(tables.sessions(found)),
        nothing="There are no such sessions; `memtrace traces` lists traces.",
        texts=lambda one: (one.name, one.external_id, one.category, one.comment),
        names=lambda one: (one.id,),
    )
    async with place.open() as store:
        where = await narrowed(store, wanted, lambda one: isinstance(one, Session))
        await show_list(listed, wanted, where, in_time(in_traces(store, Session, where.trace), wanted.when))


@listing(commands, Has.TRACE, Has.TEXT, Has.TIME, Has.JUDGEMENT, Has.VERDICT)
async def answers(place: Target, wanted: Wanted) -> None:
    """List all answers, right or wrong, each with its question, ordered by trace.

    An answer that was judged wrong shows its failure, and the verdict on it: a person's before a model's, a model's
    before that of the free pass, the newest first.
    """
    from api.cli import documents
    from api.cli.listed import Listing, show_list
    from api.cli.render import tables
    from schema.models import Element, Failure, Variable

    def is_listed(one: Element) -> bool:
        is_said = isinstance(one, Variable) and one.kind in {VariableKind.ANSWER, VariableKind.QUERY}
        return is_said or isinstance(one, Failure)

    wanted = last_one(wanted)
    async with place.open() as store:
        where = await narrowed(store, wanted, is_listed)
        is_all = where == EVERYWHERE and wanted.is_all
        listed: Listing[ListedAnswer] = Listing(
            columns=documents.ANSWER_COLUMNS,
            brief=("id", "question", "preview", "right", "failure", "verdict"),
            document=documents.answer,
            show=lambda found: Output().show(tables.answers(found)),
            nothing=NO_ANSWER if is_all else "There is no such answer; `memtrace answers` lists all.",
            texts=lambda one: [said.preview for said in (one.answer, *one.questions)],
            names=lambda one: (
                one.answer.id,
                one.failure.id if one.failure else None,
                *(said.id for said in one.questions),
            ),
            others=OTHERS["answers"],
        )
        await show_list(listed, wanted, where, _answers(store, where.trace, wanted))


def last_one(wanted: Wanted) -> Wanted:
    """``answers last`` lists the last answer."""
    from api.cli.newest import LAST

    is_last = len(wanted.words) == 1 and wanted.words[0].casefold() in LAST
    return replace(wanted, words=[], last=wanted.last or 1) if is_last else wanted


async def _answers(store: GraphStore, trace: str | None, wanted: Wanted) -> AsyncIterator[ListedAnswer]:
    """The answers with their questions, failures and verdicts, as far as the judgement and the verdict fit."""
    from attribution.verdicts.stored import operations_at_fault

    async for page in _read_answers(store, trace, wanted.when):
        given = [one.verdict for one in page if one.verdict] if wanted.operation else []
        blamed = await operations_at_fault(store, given)
        for one in page:
            at_fault = blamed.get(one.verdict.operation_id or "") if one.verdict else None
            error_type = one.verdict and one.verdict.error_type
            is_wrong = one.failure is not None
            if (
                (wanted.wrong is None or (is_wrong if wanted.wrong else one.is_right))
                and not (wanted.unjudged and (is_wrong or one.is_right))
                and wanted.error_type in {None, error_type}
                and is_meant(at_fault, wanted.operation)
                and (wanted.decided is None or (is_wrong and wanted.decided is (error_type is not None)))
                and (wanted.labelled is None or (is_wrong and wanted.labelled is one.is_labelled))
            ):
                yield one


async def _read_answers(store: GraphStore, trace: str | None, when: Span) -> AsyncIterator[list[ListedAnswer]]:
    from schema.models import Variable

    some: list[Variable] = []
    failures: dict[str, dict[str | None, Failure]] = {}
    async for one in in_traces(store, Variable, trace, [VariableKind.ANSWER.value], when=when):
        some.append(one)
        if len(some) == _AT_ONCE:
            yield await _with_failures(store, some, failures)
            some = []
    if some:
        yield await _with_failures(store, some, failures)


async def _with_failures(
    store: GraphStore, found: Sequence[Variable], failures: dict[str, dict[str | None, Failure]]
) -> list[ListedAnswer]:
    """The same answers, with their questions, failures and verdicts.

    Args:
        store: the project.
        found: the answers.
        failures: the failures of the last trace that was read, by trace and answer; those of further traces take their
            place, so that each trace is read once.
    """
    from attribution.verdicts.stored import every_failure, word_on
    from ingest.events.questions import questions_of, without_rephrased

    questions = await questions_of(store, found)
    shown = {one.id for one in await without_rephrased(store, found, questions)}
    wrong: dict[str, Failure] = {}
    for trace_id, listed in groupby(found, key=attrgetter("trace_id")):
        if trace_id not in failures:
            failures.clear()
            failures[trace_id] = {failure.answer_id: failure for failure in await every_failure(store, trace_id)}
        of_trace = failures[trace_id]
        wrong |= {one.id: of_trace[one.id] for one in listed if one.id in of_trace}
    given = await store.attributions([failure.id for failure in wrong.values()])
    verdicts = word_on(given, wrong.values())
    labelled = {one.failure_id for one in given if one.method == HUMAN_METHOD}
    return [
        ListedAnswer(
            one,
            questions[one.id],
            failure,
            verdicts.get(failure.id) if failure else None,
            failure is not None and failure.id in labelled,
        )
        for one in found
        for failure in (wrong.get(one.id),)
        if one.id in shown or failure is not None
    ]


async def in_traces(
    store: GraphStore,
    model: type[E],
    trace_id: str | None,
    kinds: Sequence[str] = (),
    statuses: Sequence[str] = (),
    when: Span | None = None,
) -> AsyncIterator[E]:
    """The elements of one trace or of all traces, in order."""
    from store.contract.answers import ALWAYS, Label
    from store.shared.paging import every, in_trace

    ids = [trace_id] if trace_id else [one.id async for one in every(lambda after: store.traces(after=after))]
    for id_ in ids:
        async for one in in_trace(store, Label(model.__name__), id_, kinds, statuses=statuses, when=when or ALWAYS):
            if isinstance(one, model):
                yield one
