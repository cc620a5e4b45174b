"""The command that lists the failures."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.columns import OTHERS
from api.cli.context import Target
from api.cli.errors import UsageError, note
from api.cli.filters import Has, Wanted, listing
from api.cli.listed import Listing, show_list
from api.cli.listing import last_one
from api.cli.narrowing import EVERYWHERE, Place, is_meant, narrowed, says
from api.cli.next_steps import NO_FAILURE
from api.cli.output import Output, print_json
from schema.errors import AmbiguousError, NotFoundError

if TYPE_CHECKING:
    from attribution.verdicts.failure_columns import FailureRow
    from schema.models import Failure
    from store.contract.answers import FailureFilter, FailureOrder
    from store.contract.protocol import GraphStore

commands = typer.Typer()


@dataclass(frozen=True, slots=True)
class Sure:
    """How sure a verdict must be; None is no bound."""

    at_least: float | None = None
    at_most: float | None = None


_PAGE = 1000
STORE_SORTS = ("time", "confidence", "errorType", "operation")
"""The sort keys of the store: ``store.contract.answers.FailureKey`` without the imports of its module."""


@listing(commands, Has.TRACE, Has.TEXT, Has.TIME, Has.VERDICT)
async def failures(
    place: Target,
    wanted: Wanted,
    all_verdicts: Annotated[
        bool,
        typer.Option(
            "--all-verdicts",
            help="List verdicts, too, that a newer one of the same person, or of the same method and model, replaced.",
        ),
    ] = False,
    min_confidence: Annotated[
        float | None,
        typer.Option(
            "--min-confidence", min=0, max=1, help="Only with a verdict that is at least so sure.", show_default=False
        ),
    ] = None,
    max_confidence: Annotated[
        float | None,
        typer.Option(
            "--max-confidence", min=0, max=1, help="Only with a verdict that is at most so sure.", show_default=False
        ),
    ] = None,
    author: Annotated[
        str | None,
        typer.Option(
            "--author",
            metavar="NAME",
            help="Only wrong answers with a verdict of this person.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """List the questions that were answered wrong, with the verdicts on each.

    The words may also be an error type, or the id of an answer or a question. --sort takes time, confidence, errorType
    and operation, of the verdicts, and any column.

    --format csv prints a row for each failure, with the verdict that counts: a person's before a model's, a model's
    before that of the free pass, the newest first. The column verdicts lists the others, too, without their paths.
    """
    wanted = _of_type(last_one(wanted))
    async with place.open() as store:
        wanted, named = await _named(store, wanted)
        where = await narrowed(store, wanted, lambda _: False)
        where = replace(where, ids=frozenset(named))
        sure = Sure(min_confidence, max_confidence)
        found = _chosen(store, wanted, where, all_verdicts, author, sure)
        listed = _listing(
            where.trace and wanted.trace, wanted.is_all and where == EVERYWHERE and author is None and sure == Sure()
        )
        if _key(wanted):
            wanted = replace(wanted, sort=None, descending=False)
        await show_list(listed, wanted, where, found)


def _key(wanted: Wanted) -> str | None:
    """The sort key of the store that is wanted."""
    return next((one for one in STORE_SORTS if (wanted.sort or "").casefold() == one.casefold()), None)


async def _chosen(
    store: GraphStore,
    wanted: Wanted,
    where: Place,
    all_verdicts: bool = False,
    author: str | None = None,
    sure: Sure | None = None,
) -> AsyncIterator[FailureRow]:
    """The failures that the options choose, in the wanted order of the store."""
    from store.contract.answers import FailureFilter, FailureKey, FailureOrder

    key = _key(wanted)
    order = FailureOrder(FailureKey(key), wanted.descending) if key else None
    if wanted.last and not wanted.sort:
        order = FailureOrder(FailureKey.TIME)
    chosen = FailureFilter(
        # The store looks for one text. The list looks for all words.
        text=max(where.text.split(), key=len) if where.text else None,
        labelled=wanted.labelled,
        error_type=wanted.error_type,
        since=wanted.when.since,
        until=wanted.when.until,
        min_confidence=sure.at_least if sure else None,
        max_confidence=sure.at_most if sure else None,
    )
    async for row in _rows(store, where.trace, chosen, order, all_verdicts):
        is_chosen = wanted.decided is None or _is_decided(row) is wanted.decided
        if is_chosen and _is_of(row, author) and is_meant(row.operation, wanted.operation):
            yield row


def _is_of(row: FailureRow, author: str | None) -> bool:
    """Whether a person of this name gave a verdict; None is anybody."""
    return author is None or any((one.author or "").casefold() == author.casefold() for one in row.verdicts)


def _of_type(wanted: Wanted) -> Wanted:
    """``failures retrieval error``: words that are an error type narrow the list to it."""
    from api.cli.labels import error_type_of

    if wanted.error_type is None and wanted.words:
        with suppress(UsageError):
            return replace(wanted, error_type=error_type_of(" ".join(wanted.words), "TYPE").value, words=[])
    return wanted


async def _named(store: GraphStore, wanted: Wanted) -> tuple[Wanted, list[str]]:
    """The ids of the failures that words name one by one, and the other words.

    Raises:
        InputError: a word names an answer that is not wrong.
    """
    from api.cli.find import failures_meant

    ids: list[str] = []
    rest: list[str] = []
    for word in wanted.words:
        try:
            ids += [one.id for one in await failures_meant(store, word, in_words=False)]
        except (NotFoundError, AmbiguousError):
            rest.append(word)
    return replace(wanted, words=rest), ids


async def failures_wanted(store: GraphStore, wanted: Wanted) -> list[Failure]:
    """The failures that the words and options of a command choose.

    Raises:
        NotFoundError: a word names nothing.
        InputError: a word names an answer that is not wrong.
    """
    from api.cli.find import find_failures

    named = await find_failures(store, wanted.words) if wanted.words else None
    if named is not None and wanted == Wanted(wanted.when, wanted.form, wanted.words) and wanted.is_all:
        return list({one.id: one for one in named}.values())
    where = await narrowed(store, replace(wanted, words=[]), lambda _: False)
    rows = [one async for one in _chosen(store, wanted, where)]
    ids = None if named is None else {one.id for one in named}
    found = [
        one.failure for one in rows if (ids is None or one.failure.id in ids) and says(_texts(one), where.text or "")
    ]
    return found[-wanted.last :] if wanted.last else found


def _texts(row: FailureRow) -> list[str | None]:
    return [row.failure.question, row.failure.prediction, *row.failure.gold_answers]


def _is_decided(row: FailureRow) -> bool:
    return row.verdict is not None and row.verdict.error_type is not None


def _listing(trace: str | None, is_all: bool) -> Listing[FailureRow]:
    from api.cli import documents

    return Listing(
        columns=documents.FAILURE_ROW_COLUMNS,
        brief=("id", "question", "prediction", "goldAnswers", "verdict"),
        document=documents.failure_row,
        json=documents.failure,
        show=lambda found: _show(found, trace),
        nothing=NO_FAILURE if is_all else "No failure is of this kind; `memtrace failures` lists all.",
        texts=_texts,
        names=lambda row: (row.failure.id,),
        others=OTHERS["failures"],
        limit=0,
    )


async def show_failures(place: Target, failures: list[Failure], as_json: bool = False) -> None:
    """Print these failures as the command `failures` does."""
    from api.cli import documents
    from attribution.verdicts.failure_columns import failure_rows

    async with place.open() as store:
        rows = await failure_rows(store, failures)
    if as_json:
        print_json([documents.failure(row) for row in rows])
    else:
        _show(rows, None)


async def _rows(
    store: GraphStore, trace_id: str | None, chosen: FailureFilter, order: FailureOrder | None, all_verdicts: bool
) -> AsyncIterator[FailureRow]:
    """The chosen failures, of one trace or of the project, read page by page."""
    from attribution.verdicts.failure_columns import failure_rows

    after: str | None = None
    while True:
        page = await store.failures(trace_id, _PAGE, after, chosen, order)
        for row in await failure_rows(store, page.items, with_replaced=all_verdicts):
            yield row
        after = page.next
        if after is None:
            return


def _show(rows: list[FailureRow], trace: str | None) -> None:
    """Print failures for people, and a hint what to do next."""
    from api.cli.render import tables
    from api.cli.render.text import counted, short
    from attribution.verdicts.gold import on_earlier_gold
    from schema.kinds import HUMAN_METHOD

    out = Output()
    unexplained: list[Failure] = []
    for row in rows:
        out.show(tables.failure(row))
        out.lines("")
        if all(one.method == HUMAN_METHOD or on_earlier_gold(one, row.failure) for one in row.verdicts):
            unexplained.append(row.failure)
    shown = [row.failure for row in rows]
    first = next((failure.answer_id for failure in shown if failure.answer_id), shown[0].question_id)
    hint = f"See what led to an answer with: memtrace closure {short(first)}"
    if unexplained:
        hint = f"Find out why with: memtrace attribute {_those(unexplained, trace)}"
    note(f"{counted(len(shown), 'failure')}. {hint}")


def _those(failures: list[Failure], trace: str | None) -> str:
    """The options of `memtrace attribute` that select these failures."""
    import shlex

    from api.cli.render.text import short

    if len(failures) == 1:
        return short(failures[0].id)
    return f"--trace {shlex.quote(trace)}" if trace else "--all"
