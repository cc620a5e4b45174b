"""Words after a command that lists: the trace whose things are listed, and a text that they must contain."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from api.cli.errors import note
from schema.errors import NotFoundError

if TYPE_CHECKING:
    from store.contract.protocol import GraphStore

WordsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[WORDS]...",
        help="Only this trace (the same as --trace), or only what contains this text (the same as --search).",
        show_default=False,
    ),
]
SearchOption = Annotated[
    str | None, typer.Option("--search", metavar="TEXT", help="Only what contains this text.", show_default=False)
]

LimitOption = Annotated[int, typer.Option("--limit", min=0, help="How many to list at most; 0 lists all.")]
LIMIT = 1000
LastOption = Annotated[
    int | None, typer.Option("--last", min=1, help="Only so many, the last ones.", show_default=False)
]

T = TypeVar("T")


async def narrowed(
    store: GraphStore, given: list[str] | None, trace: str | None, text: str | None
) -> tuple[str | None, str | None]:
    """The trace and the text that the words and the options name, if any.

    Raises:
        NotFoundError: a word has the form of an id, and no trace has the id.
    """
    from api.cli.find import find
    from schema.models import Trace
    from store.shared.resolving import is_prefix, is_whole_id

    rest = list(given or [])
    if rest and trace is None:
        try:
            trace = (await find(store, Trace, rest[0])).id
            rest = rest[1:]
        except NotFoundError:
            if is_prefix(rest[0]) or is_whole_id(rest[0]):
                raise
    return trace, " ".join([*rest, *([text] if text else [])]) or None


async def containing(
    found: AsyncIterator[T],
    texts: Callable[[T], list[str]],
    text: str | None,
    limit: int,
    last: int | None = None,
) -> AsyncIterator[T]:
    """The things with the text, in any case of letters; a note tells if the limit left something out.

    Args:
        found: the things to look through.
        texts: the texts of one thing.
        text: the text to look for; None keeps everything.
        limit: the largest number; 0 for all.
        last: take only this number of things, from the end; the limit is then ignored.
    """
    kept = deque[T](maxlen=last or 0)
    listed = 0
    async for one in found:
        if text and not any(text.casefold() in said.casefold() for said in texts(one)):
            continue
        if last:
            kept.append(one)
            continue
        if listed == limit > 0:
            note(f"There are more than {limit:,}: --limit 0 lists all.")
            return
        listed += 1
        yield one
    for one in kept:
        yield one
