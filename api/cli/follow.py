"""`memtrace follow`: prints recorded steps as they come into the store."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.context import Target, command
from api.cli.errors import note
from api.cli.options import IdHelp, TraceOption
from api.cli.output import Output
from schema.kinds import OperationKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schema.models import Operation, Trace
    from store.contract.answers import OperationDetail
    from store.contract.protocol import GraphStore

commands = typer.Typer()

_LAST = 10
_MOST_TRACES = 50
"""Each look reads so many traces, the newest ones; an older one is followed if it is named."""
_PAGE = 1000
_NAME = 20
_TEXT = 80


@command(commands)
async def follow(
    place: Target,
    reference: Annotated[str | None, typer.Argument(metavar="[TRACE]", help=IdHelp, show_default=False)] = None,
    trace: TraceOption = None,
    kind: Annotated[
        list[OperationKind] | None,
        typer.Option("--kind", case_sensitive=False, help="Only operations of this kind; may be repeated."),
    ] = None,
    last: Annotated[int, typer.Option("--last", min=0, help="How many earlier operations to print first.")] = _LAST,
    seconds: Annotated[float, typer.Option("--every", min=0.1, help="Seconds between two looks.")] = 1.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print each operation as a JSON object on a line.")] = False,
) -> None:
    """Print operations as they are recorded, until Ctrl-C: the last ones first, then a line for each new one.

    `memtrace run` stores a recording when the program ends; a program that sends to a server (`memtrace run
    --endpoint URL`) is seen while it runs. Without TRACE, the 50 newest traces are followed.
    """
    import asyncio

    from api.cli.find import find_trace_id

    async with place.open() as store:
        only = await find_trace_id(store, trace or reference)
        seen = Seen(store, only, [one.value for one in kind or ()])
        found = await seen.new(last)
        await _print(store, found[max(0, len(found) - last) :], as_json)
        note("New operations follow; Ctrl-C ends.")
        while True:
            await asyncio.sleep(seconds)
            await _print(store, await seen.new(), as_json)


class Seen:
    """Reads operations that were not read before.

    Args:
        store: the project.
        only: the id of the only trace; None for the newest ones.
        kinds: only operations of these kinds; empty for all.
    """

    def __init__(self, store: GraphStore, only: str | None, kinds: list[str]) -> None:
        self._store, self._only, self._kinds = store, only, kinds
        self._next: dict[str, int] = {}
        self._has_told = False

    async def new(self, most: int | None = None) -> list[tuple[Trace, Operation]]:
        """The operations that came since the last call, in the order in which they started.

        Args:
            most: only so many of each trace, the last ones; None for all.
        """
        found = [(one, step) for one in await self._traces() for step in await self._steps(one, most)]
        return sorted(found, key=lambda pair: pair[1].started_at.timestamp() if pair[1].started_at else 0.0)

    async def _traces(self) -> list[Trace]:
        from collections import deque

        from schema.models import Trace
        from store.contract.answers import Label
        from store.shared.paging import every

        if self._only:
            return [one for one in await self._store.get(Label.TRACE, [self._only]) if isinstance(one, Trace)]
        newest, number = deque[Trace](maxlen=_MOST_TRACES), 0
        async for one in every(lambda after: self._store.traces(after=after)):
            newest.append(one)
            number += 1
        if number > _MOST_TRACES and not self._has_told:
            self._has_told = True
            note(f"The {_MOST_TRACES:,} newest of {number:,} traces are followed; an older one: memtrace follow TRACE")
        return list(newest)

    async def _steps(self, trace: Trace, most: int | None) -> Iterable[Operation]:
        from collections import deque

        from schema.models import Operation
        from store.contract.answers import Label

        found = deque[Operation](maxlen=most)
        after: str | None = None
        since = self._next.get(trace.id, 0)
        while True:
            page = await self._store.page(Label.OPERATION, trace.id, _PAGE, after, self._kinds, since=since)
            steps = [one for one in page.items if isinstance(one, Operation)]
            self._next[trace.id] = max([self._next.get(trace.id, 0), *(one.sequence + 1 for one in steps)])
            found.extend(steps)
            after = page.next
            if after is None:
                return found


async def _print(store: GraphStore, found: Iterable[tuple[Trace, Operation]], as_json: bool) -> None:
    """Print a line for each operation."""
    import msgspec

    from schema.models import as_json as public

    listed = list(found)
    if as_json:
        for _, one in listed:
            sys.stdout.write(msgspec.json.encode(public(one)).decode() + "\n")
    elif listed:
        details = await store.operations([one.id for _, one in listed])
        Output().lines(*(_line(trace, details[one.id]) for trace, one in listed if one.id in details))
    sys.stdout.flush()


def _line(trace: Trace, detail: OperationDetail) -> str:
    """Time, trace, operation, and the beginning of what the operation made."""
    from api.cli.render.text import one_line, short

    step = detail.operation
    at = f"{step.started_at:%H:%M:%S}" if step.started_at else " " * 8
    made = next((one.preview for one in detail.generated if one.preview), "")
    said = f"  “{one_line(made, _TEXT)}”" if made else ""
    named = one_line(trace.name or trace.external_id, _NAME)
    status = "" if step.status == "ok" else f"  {step.status}"
    return f"{at}  {named}  {step.kind.value} {one_line(step.name or '', 40)} {short(step.id)}{status}{said}"
