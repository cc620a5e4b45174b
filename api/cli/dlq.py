"""`memtrace dlq`: shows, corrects, sends again and drops events that could not be written."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.context import Target, command
from api.cli.errors import UsageError, note
from api.cli.filters import Has, Wanted, listing
from api.cli.options import JsonOption
from api.cli.output import Output, print_json, write_bytes

if TYPE_CHECKING:
    from ingest.queue.protocol import DeadLetter, DeadLetters, EventQueue
    from store.contract.answers import Span

app = typer.Typer(help="Show, send again or drop dead letters: events that could not be written.")

_PANEL = "Commands"
_PAGE = 500
_LISTED = 100
_COLUMNS = ("id", "projectId", "trace", "type", "reason", "tries", "sentAt", "diedAt")
"""The members of ``_document``, in order."""
_SENT_TOGETHER = 20_000
_BYTES_TOGETHER = 32 << 20
_SHOWN_CHARACTERS = 200
_LARGEST = 2**63 - 1

Ids = Annotated[
    list[int] | None,
    typer.Argument(metavar="ID…", help="Numbers of dead letters, as `dlq list` shows them.", min=1, max=_LARGEST),
]
All = Annotated[bool, typer.Option("--all", help="All dead letters of the project.")]


@listing(app, Has.TEXT, Has.TIME, name="list", panel=_PANEL)
async def list_letters(
    place: Target,
    wanted: Wanted,
    after: Annotated[
        int,
        typer.Option("--after", metavar="ID", min=0, max=_LARGEST, help="List only dead letters with greater numbers."),
    ] = 0,
) -> None:
    """List the events that could not be written, each with the reason, the oldest first.

    Their time is when they were given up.
    """
    from api.cli.listed import Listing, show_list
    from api.cli.narrowing import of_words

    listed: Listing[DeadLetter] = Listing(
        columns=_COLUMNS,
        brief=("id", "diedAt", "trace", "type", "reason"),
        document=_document,
        show=_show,
        nothing="There are no such dead letters.",
        texts=lambda letter: (letter.trace, letter.reason, _document(letter)["type"]),
        time="diedAt",
        limit=_LISTED,
    )
    async with _queue(place) as queue:
        letters = queue.letters(place.project_id)
        if lost := await letters.lost():
            note(f"{lost:,} older dead letters are gone: there were too many.")
        await show_list(listed, wanted, of_words(wanted), _given_up(letters, after, wanted.when))


async def _given_up(letters: DeadLetters, after: int, when: Span) -> AsyncIterator[DeadLetter]:
    """The letters with greater numbers that were given up in a time, read page by page."""
    from api.cli.narrowing import recorded_in

    while page := await letters.page(after, _PAGE):
        for letter in page:
            assert letter.id is not None
            after = letter.id
            if recorded_in(when, letter.died_at):
                yield letter


def _show(letters: list[DeadLetter]) -> None:
    from api.cli.render.text import one_line

    # People look for the reason, so it is never cut to the width of the screen.
    Output().lines(
        *(
            f"{one['id']}  {one['diedAt'][:19]}  {one_line(one['trace'], 40)}  {one['type']}: "
            f"{one_line(one['reason'], _SHOWN_CHARACTERS)}"
            for one in map(_document, letters)
        )
    )


@command(app, panel=_PANEL)
async def show(
    place: Target,
    letter_id: Annotated[
        int,
        typer.Argument(
            metavar="ID", help="The number of the dead letter, as `dlq list` shows it.", min=1, max=_LARGEST
        ),
    ],
    as_json: JsonOption = False,
) -> None:
    """Show one dead letter. The event is printed to standard output as it came, so that you can save and correct it."""
    async with _queue(place) as queue:
        letter = await queue.letters(place.project_id).get(letter_id)
    if as_json:
        print_json(_document(letter) | {"event": _event(letter)})
        return
    note(f"{letter.reason} (tried {letter.tries} times, given up {_time(letter)})")
    write_bytes(letter.event + b"\n")


@command(app, panel=_PANEL)
async def replay(
    place: Target,
    letter_ids: Ids = None,
    every: All = False,
    file: Annotated[
        Path | None,
        typer.Option("--file", metavar="FILE", help="Send this corrected event instead; - is standard input."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Send events again, as they are or corrected. They leave the dead letters as soon as the queue has them."""
    from ingest.queue.admission import Sent, admit
    from schema.errors import InputError

    ids = _chosen(letter_ids, every)
    if file is not None and (ids is None or len(ids) != 1):
        raise UsageError("--file mends one event: name its ID")
    done = 0
    async with _queue(place) as queue, _audited(place, "replayDeadLetters", ids):
        letters = queue.letters(place.project_id)
        async for some in _together(_each(queue, place.project_id, ids)):
            # Events may have failed in any order, so they are sent together and in the order of their references.
            found = _in_order(some)
            sent = Sent([one.event for one in found]) if file is None else Sent.json(_read(file))
            if not sent.pieces:
                raise InputError(str(file), "", "holds no event")
            refused = {refusal.index: refusal.reason for refusal in await admit(queue, place.project_id, sent)}
            if not (file is not None and refused):
                sent_again = [letter.id for index, letter in enumerate(found) if index not in refused]
                await letters.drop([id_ for id_ in sent_again if id_ is not None])
                done += len(sent_again)
            for index, reason in sorted(refused.items()):
                source = str(file) if file is not None else f"dead letter {found[index].id}"
                raise InputError(source, "", f"{reason}; {done:,} were sent again")
    if as_json:
        print_json({"replayed": done})
    else:
        Output().lines(f"Sent {done:,} again.")


@command(app, panel=_PANEL)
async def drop(
    place: Target,
    letter_ids: Ids = None,
    every: All = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask for confirmation.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Delete dead letters for good."""
    ids = _chosen(letter_ids, every)
    if ids is None and not yes and not typer.confirm("Throw away all dead letters of the project?", err=True):
        note("Nothing was thrown away.")
        raise typer.Exit(1)
    async with _queue(place) as queue, _audited(place, "dropDeadLetters", ids):
        letters = queue.letters(place.project_id)
        if ids is None:
            done = await letters.drop_all()
        else:
            for letter_id in ids:
                await letters.get(letter_id)  # an unknown number is an error
            done = await letters.drop(ids)
    if as_json:
        print_json({"dropped": done})
    else:
        Output().lines(f"Threw {done:,} away.")


@asynccontextmanager
async def _queue(place: Target) -> AsyncIterator[EventQueue]:
    from api.cli.queues import queue_of
    from schema.errors import StoreError

    async with queue_of(place) as queue:
        if queue is None:
            raise StoreError("there is no queue: no server has run on this store, and MEMTRACE_NATS is not set")
        yield queue


@asynccontextmanager
async def _audited(place: Target, action: str, ids: list[int] | None) -> AsyncIterator[None]:
    """Write an act on dead letters to the audit log before the act, because both share no transaction."""
    from api.cli.keeper import keeper_door
    from store.shared.auditing import apart

    target = "all" if ids is None else ", ".join(map(str, ids))[:_SHOWN_CHARACTERS]
    async with keeper_door(place) as door, apart(door.records, door.entry(action, target)):
        yield


async def _each(queue: EventQueue, project_id: str, ids: list[int] | None) -> AsyncIterator[DeadLetter]:
    """The letters with these numbers; None means all letters that exist now."""
    letters = queue.letters(project_id)
    if ids is not None:
        for letter_id in ids:
            yield await letters.get(letter_id)
        return
    after, left = 0, await letters.count()
    while left > 0:
        page = await letters.page(after, min(_PAGE, left))
        for letter in page:
            yield letter
            assert letter.id is not None
            after = letter.id
        if not page:
            return
        left -= len(page)


async def _together(letters: AsyncIterator[DeadLetter]) -> AsyncIterator[list[DeadLetter]]:
    """Letters in batches, for sending them again."""
    found: list[DeadLetter] = []
    size = 0
    async for letter in letters:
        found.append(letter)
        size += len(letter.event)
        if len(found) >= _SENT_TOGETHER or size >= _BYTES_TOGETHER:
            yield found
            found, size = [], 0
    if found:
        yield found


def _in_order(letters: list[DeadLetter]) -> list[DeadLetter]:
    """The letters of each trace, in an order in which references come after their targets."""
    from memtrace.events import EventError

    from ingest.events.ordering import in_order
    from ingest.events.reading import read

    by_trace: dict[str, list[DeadLetter]] = {}
    for letter in letters:
        by_trace.setdefault(letter.trace, []).append(letter)
    ordered: list[DeadLetter] = []
    for of_trace in by_trace.values():
        events = read([letter.event for letter in of_trace])
        good = [place for place, event in enumerate(events) if not isinstance(event, EventError)]
        order = in_order([event for event in events if not isinstance(event, EventError)])
        ordered += [of_trace[good[place]] for place in (range(len(good)) if order is None else order)]
        ordered += [of_trace[place] for place, event in enumerate(events) if isinstance(event, EventError)]
    return ordered


def _chosen(ids: list[int] | None, every: bool) -> list[int] | None:
    if bool(ids) == every:
        raise UsageError("name IDs, or say --all")
    return list(dict.fromkeys(ids)) if ids else None


def _read(file: Path) -> bytes:
    from schema.errors import InputError

    try:
        return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise InputError(str(file), "", f"can't be read: {error.strerror}") from error


def _document(letter: DeadLetter) -> dict[str, Any]:
    from schema.models import format_time

    event = _event(letter)
    return {
        "id": letter.id,
        "projectId": letter.project_id,
        "trace": letter.trace,
        "type": event.get("type") if isinstance(event, dict) else None,
        "reason": letter.reason,
        "tries": letter.tries,
        "sentAt": format_time(letter.sent_at),
        "diedAt": format_time(letter.died_at),
    }


def _event(letter: DeadLetter) -> Any:
    """The event as JSON; if it is not JSON, the beginning of it as text."""
    import msgspec

    try:
        return msgspec.json.decode(letter.event)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return letter.event[:_SHOWN_CHARACTERS].decode("utf-8", "replace")


def _time(letter: DeadLetter) -> str:
    return f"{letter.died_at:%Y-%m-%d %H:%M:%S} UTC"
