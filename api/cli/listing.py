"""Commands that list operations and answers."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from api.cli.context import Target, command
from api.cli.errors import note
from api.cli.narrowing import LIMIT, LastOption, LimitOption, SearchOption, WordsArgument, containing, narrowed
from api.cli.next_steps import NO_ANSWER
from api.cli.options import Format, FormatOption, JsonFormatOption, TraceOption, chosen_format
from api.cli.output import Output, print_json
from api.cli.times import SinceOption, UntilOption, span
from schema.kinds import OperationKind, Status, VariableKind

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from schema.models import Attribution, Failure, Operation, Variable
    from store.contract.answers import Span
    from store.contract.protocol import GraphStore

commands = typer.Typer()


_AT_ONCE = 100
"""Number of answers whose questions are read at the same time."""

E = TypeVar("E", "Operation", "Variable")


@dataclass(frozen=True, slots=True)
class ListedAnswer:
    """An answer with its question, failure and verdict.

    Attributes:
        questions: what the answer may belong to; a single question is its question.
        failure: if the answer was judged wrong.
        verdict: the verdict on the failure that counts.
    """

    answer: Variable
    questions: Sequence[Variable]
    failure: Failure | None
    verdict: Attribution | None

    @property
    def is_right(self) -> bool:
        """Whether the answer was judged right, and no failure says otherwise."""
        return self.failure is None and self.answer.right is True


@command(commands)
async def operations(
    place: Target,
    given: WordsArgument = None,
    trace: TraceOption = None,
    kind: Annotated[
        list[OperationKind] | None,
        typer.Option("--kind", case_sensitive=False, help="Only operations of this kind; may be repeated."),
    ] = None,
    status: Annotated[
        Status | None,
        typer.Option("--status", case_sensitive=False, help="Only operations with this status."),
    ] = None,
    search: SearchOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    limit: LimitOption = LIMIT,
    last: LastOption = None,
    format_: FormatOption = None,
    as_json: JsonFormatOption = False,
) -> None:
    """List operations with status and duration, ordered by trace."""
    form = chosen_format(format_, as_json)
    from api.cli.csv_output import CsvTable
    from api.cli.render import tables
    from schema.models import Operation, public_names
    from schema.models import as_json as public

    kinds, statuses = [one.value for one in kind or ()], [status.value] if status else []
    when = span(since, until)
    async with place.open() as store:
        only, text = await narrowed(store, given, trace, search)
        read = in_traces(store, Operation, only, 0 if text or last else limit, kinds, statuses, when)
        found = [one async for one in containing(read, _texts, text, limit, last)]
    if form is Format.CSV:
        CsvTable(public_names(Operation)).add(map(public, found))
    elif form is Format.JSON:
        print_json([public(one) for one in found])
    elif found:
        Output().show(tables.operations(found))
    else:
        note("There are no such operations.")


def _texts(one: Operation) -> list[str]:
    """The texts of an operation that people look for."""
    return [one.name or "", one.comment or ""]


@command(commands)
async def answers(
    place: Target,
    given: WordsArgument = None,
    trace: TraceOption = None,
    wrong: Annotated[
        bool | None,
        typer.Option("--wrong/--right", help="Only answers that are marked as wrong, or as right.", show_default=False),
    ] = None,
    words: Annotated[
        str | None,
        typer.Option("--search", metavar="TEXT", help="Only answers with this text in the question or the answer."),
    ] = None,
    error_type: Annotated[
        str | None,
        typer.Option(
            "--type",
            metavar="TYPE",
            help="Only wrong answers whose verdict names this error type.",
            show_default=False,
        ),
    ] = None,
    since: SinceOption = None,
    until: UntilOption = None,
    limit: LimitOption = LIMIT,
    last: LastOption = None,
    format_: FormatOption = None,
    as_json: JsonFormatOption = False,
) -> None:
    """List all answers, right or wrong, each with its question, ordered by trace.

    An answer that was judged wrong shows its failure, and the verdict on it: a person's before a model's, a model's
    before that of the free pass, the newest first.
    """
    form = chosen_format(format_, as_json)
    from api.cli import documents
    from api.cli.csv_output import CsvTable
    from api.cli.find import LAST
    from api.cli.labels import error_type_of
    from api.cli.render import tables
    from store.contract.answers import ALWAYS

    when, kind = span(since, until), error_type_of(error_type, "--type") if error_type else None
    async with place.open() as store:
        if given and len(given) == 1 and given[0].casefold() in LAST:
            given, last = None, last or 1
        only, text = await narrowed(store, given, trace, words)
        pages = _answers(store, only, 0 if last else limit, wrong, text, when, kind)
        if last:
            pages = _last(pages, last)
        if form is Format.CSV:
            table = CsvTable(documents.ANSWER_COLUMNS)
            async for page in pages:
                table.add(documents.answer(one) for one in page)
            return
        found = [one async for page in pages for one in page]
    if form is Format.JSON:
        print_json([documents.answer(one) for one in found])
    elif found:
        Output().show(tables.answers(found))
    else:
        is_all = wrong is None and not text and when == ALWAYS and kind is None
        note(NO_ANSWER if is_all else "There is no such answer; `memtrace answers` lists all.")


async def _last(pages: AsyncIterator[list[ListedAnswer]], count: int) -> AsyncIterator[list[ListedAnswer]]:
    """The last answers, as one page."""
    from collections import deque

    last: deque[ListedAnswer] = deque(maxlen=count)
    async for page in pages:
        last.extend(page)
    yield list(last)


async def _answers(
    store: GraphStore,
    trace: str | None,
    limit: int,
    wrong: bool | None,
    words: str | None,
    when: Span,
    kind: str | None,
) -> AsyncIterator[list[ListedAnswer]]:
    """Answers with questions, failures and verdicts, in lists.

    Args:
        store: the project.
        trace: only answers of this trace.
        limit: the largest number of answers; 0 for all.
        wrong: only wrong answers, only right ones (False), or all (None).
        words: only answers with this text in the preview of the question or the answer.
        when: only answers of this time.
        kind: only answers whose verdict names this error type.
    """
    if wrong is None and not words and kind is None:
        async for page in _read_answers(store, trace, limit, when):
            yield page
        return
    left = limit or sys.maxsize
    async for page in _read_answers(store, trace, 0, when):
        chosen = [one for one in page if _is_judged(one, wrong) and _says(one, words) and _is_of(one, kind)]
        if len(chosen) > left:
            note(f"There are more than {limit:,}: --limit 0 lists all.")
        yield chosen[:left]
        left -= len(chosen)
        if left < 0:
            return


def _is_judged(answer: ListedAnswer, wrong: bool | None) -> bool:
    return wrong is None or (answer.failure is not None if wrong else answer.is_right)


def _is_of(answer: ListedAnswer, kind: str | None) -> bool:
    return kind is None or (answer.verdict is not None and answer.verdict.error_type == kind)


def _says(answer: ListedAnswer, words: str | None) -> bool:
    texts = [one.preview for one in (answer.answer, *answer.questions)]
    return not words or any(words.casefold() in text.casefold() for text in texts)


async def _read_answers(
    store: GraphStore, trace: str | None, limit: int, when: Span
) -> AsyncIterator[list[ListedAnswer]]:
    from schema.models import Variable

    some: list[Variable] = []
    async for one in in_traces(store, Variable, trace, limit, [VariableKind.ANSWER.value], when=when):
        some.append(one)
        if len(some) == _AT_ONCE:
            yield await _with_failures(store, some)
            some = []
    if some:
        yield await _with_failures(store, some)


async def _with_failures(store: GraphStore, found: Sequence[Variable]) -> list[ListedAnswer]:
    """The same answers, with their questions, failures and verdicts."""
    from attribution.verdicts.stored import every_failure, word_on
    from ingest.events.questions import questions_of

    questions = await questions_of(store, found)
    ids = {one.id for one in found}
    wrong: dict[str, Failure] = {}
    for trace_id in dict.fromkeys(one.trace_id for one in found):
        failures = await every_failure(store, trace_id)
        wrong |= {failure.answer_id: failure for failure in failures if failure.answer_id in ids}
    verdicts = word_on(await store.attributions([failure.id for failure in wrong.values()]), wrong.values())
    return [
        ListedAnswer(one, questions[one.id], failure, verdicts.get(failure.id) if failure else None)
        for one in found
        for failure in (wrong.get(one.id),)
    ]


async def in_traces(
    store: GraphStore,
    model: type[E],
    trace: str | None,
    limit: int,
    kinds: Sequence[str],
    statuses: Sequence[str] = (),
    when: Span | None = None,
) -> AsyncIterator[E]:
    """The elements of one trace or of all traces, in order. A note tells if the limit left some out."""
    from api.cli.find import find_trace_id
    from store.contract.answers import ALWAYS, Label
    from store.shared.paging import every, in_trace

    only = await find_trace_id(store, trace)
    ids = [only] if only else [one.id async for one in every(lambda after: store.traces(after=after))]
    listed = 0
    for id_ in ids:
        async for one in in_trace(store, Label(model.__name__), id_, kinds, statuses=statuses, when=when or ALWAYS):
            if listed == limit > 0:
                note(f"There are more than {limit:,}: --limit 0 lists all.")
                return
            if isinstance(one, model):
                listed += 1
                yield one
