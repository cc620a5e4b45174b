"""What the words and options of a listing narrow it to: a trace, a session, some things by their ids, a text."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeVar

from api.cli.errors import note
from schema.errors import NotFoundError
from schema.kinds import VariableKind

if TYPE_CHECKING:
    from api.cli.filters import Wanted
    from schema.models import Element, Operation, Trace
    from store.contract.answers import Span
    from store.contract.protocol import GraphStore


class _Recorded(Protocol):
    @property
    def created_at(self) -> datetime | None: ...


_SHORT_ID = 8
T = TypeVar("T", bound=_Recorded)


@dataclass(frozen=True, slots=True)
class Place:
    """What a list is narrowed to.

    Attributes:
        trace: the id of the trace.
        ids: the ids of the things to list; empty for all.
        text: words that a thing must contain.
    """

    trace: str | None = None
    ids: frozenset[str] = frozenset()
    text: str | None = None


EVERYWHERE = Place()


async def narrowed(
    store: GraphStore, wanted: Wanted, is_listed: Callable[[Element], bool], *, has_trace_names: bool = True
) -> Place:
    """What the words and options of a listing narrow it to.

    The id of a listed thing lists only this thing, and the id of anything else the things of its trace. The first word
    may be the name of a trace. All other words are looked for.

    Args:
        store: the project.
        wanted: the words and options.
        is_listed: whether an element is one of the listed things, or stands for one.
        has_trace_names: whether the first word may be the name of a trace.

    Raises:
        NotFoundError: a word has the form of an id, and nothing has the id.
    """
    from api.cli.find import find_trace_id
    from store.shared.resolving import is_prefix, is_whole_id

    trace = await find_trace_id(store, wanted.trace)
    ids: set[str] = set()
    texts: list[str] = []
    for at, word in enumerate(wanted.words):
        if is_prefix(word) or is_whole_id(word):
            try:
                found = await store.resolve(word)
            except NotFoundError:
                if len(wanted.words) == 1:
                    raise
                texts.append(word)
                continue
            if is_listed(found):
                ids.add(found.id)
            else:
                trace = _trace_of(found, word)
        elif has_trace_names and at == 0 and trace is None and (named := await _trace_named(store, word)):
            trace = named.id
        else:
            texts.append(word)
    return Place(trace, frozenset(ids), " ".join([*texts, *([wanted.text] if wanted.text else [])]) or None)


def of_words(wanted: Wanted) -> Place:
    """The place of a list whose things are in no trace: all words are looked for."""
    return Place(text=" ".join([*wanted.words, *([wanted.text] if wanted.text else [])]) or None)


async def _trace_named(store: GraphStore, word: str) -> Trace | None:
    from api.cli.find import find
    from api.cli.meant import Lead
    from schema.models import Trace

    try:
        return await find(store, Trace, word, lead=Lead.NOT)
    except NotFoundError:
        return None


def _trace_of(found: Element, word: str) -> str:
    from api.cli.meant import kind_of
    from api.cli.render.text import short
    from schema.models import Trace

    if isinstance(found, Trace):
        return found.id
    its = f" Its versions: memtrace versions {word}" if kind_of(found) == VariableKind.MEMORY_UNIT else ""
    note(f"{word} is of the kind {kind_of(found)}; listed is its trace {short(found.trace_id)}.{its}")
    return found.trace_id


def says(texts: Iterable[str | None], wanted: str) -> bool:
    """Whether texts contain all words, or parts of words, in any case of letters."""
    whole = "\n".join(one for one in texts if one).casefold()
    return all(_has(whole, word) for word in wanted.casefold().split())


def _has(text: str, word: str) -> bool:
    """Whether a text has a word; in ``user:*`` a star is any characters."""
    if word in text:
        return True
    place = 0
    for part in word.split("*") if "*" in word else [word]:
        place = text.find(part, place)
        if place < 0:
            return False
        place += len(part)
    return True


def recorded_in(when: Span, at: datetime | None) -> bool:
    """Whether a moment is in a time; see ``Span``."""
    if when.since is None and when.until is None:
        return True
    return at is not None and (when.since is None or at >= when.since) and (when.until is None or at < when.until)


async def in_time(found: AsyncIterator[T], when: Span) -> AsyncIterator[T]:
    """The things that were recorded (``created_at``) in a time."""
    async for one in found:
        if recorded_in(when, one.created_at):
            yield one


def is_meant(operation: Operation | None, wanted: str | None) -> bool:
    """Whether an operation is the one that ``--operation`` names: by its id, kind, category, or a part of its name."""
    if wanted is None or operation is None:
        return wanted is None
    said = wanted.casefold()
    is_id = len(said) >= _SHORT_ID and operation.id.startswith(said)
    kinds = {operation.kind.value.casefold(), (operation.category or "").casefold()}
    return is_id or said in kinds or said in (operation.name or "").casefold()
