"""Dead letters as compressed blocks in the journal: letters that die together are mostly alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import apsw
import msgspec
import zstandard

from ingest.queue.journal.queries import sql
from ingest.queue.protocol import DeadLetter
from schema.times import from_microseconds, to_microseconds

_MOST_LETTERS = 1_000
_MOST_BYTES = 1 << 20
"""A block ends with the letter that reaches a limit, since a whole block is read for one of its letters."""

_BLOCK_BYTES = 200
"""Bytes of a block in the file without its body."""

_LEVEL = 3
_UNKNOWN = datetime(1970, 1, 1, tzinfo=UTC)


class _Row(msgspec.Struct, array_like=True):
    """A letter in a block. ``back`` is the block's last number minus the letter's number; times are microseconds."""

    back: int
    trace: str
    event: bytes
    reason: str
    tries: int
    sent_at: int
    died_at: int


class Block(msgspec.Struct):
    """Letters of one project that are not stored yet.

    Attributes:
        span: the number of numbers that the block needs; letters may leave numbers out.
        letters: number of letters.
        body: the compressed letters.
    """

    project_id: str
    span: int
    letters: int
    body: bytes


def blocks_of(letters: Iterable[DeadLetter]) -> list[Block]:
    """Blocks with the letters of each project, in order; a repeated letter is kept once."""
    by_project: dict[str, dict[bytes, DeadLetter]] = defaultdict(dict)
    for letter in letters:
        by_project[letter.project_id].setdefault(letter.digest, letter)
    made = []
    for project_id, of_project in by_project.items():
        for some in _parts(of_project.values()):
            numbered = [replace(letter, id=number) for number, letter in enumerate(some, 1)]
            made.append(Block(project_id, len(some), len(some), _packed(numbered, len(some))))
    return made


def bury(connection: apsw.Connection, blocks: Sequence[Block], most_bytes: int) -> None:
    """Store blocks; above ``most_bytes`` of a project, its oldest blocks are deleted and their letters counted.

    The newest block of a project always stays.
    """
    for block in blocks:
        last = connection.execute(sql("letters.take_numbers"), (block.span,)).get
        _store(connection, last, block)
    for project_id in {block.project_id for block in blocks}:
        _trim(connection, project_id, most_bytes)


def page(connection: apsw.Connection, project_id: str, after: int, limit: int) -> list[DeadLetter]:
    """Letters of a project with numbers above ``after``, the smallest number first."""
    found: list[DeadLetter] = []
    start = after + 1
    while len(found) < limit:
        block = _next(connection, project_id, start)
        if block is None:
            break
        last, _, letters = block
        found += [one for one in letters if one.id is not None and one.id > after]
        start = last + 1
    return found[:limit]


def drop(connection: apsw.Connection, project_id: str, numbers: Sequence[int]) -> int:
    """Delete letters of a project; returns how many there were."""
    wanted, dropped = sorted(numbers), 0
    while wanted:
        block = _next(connection, project_id, wanted[0])
        if block is None:
            break
        last, count, letters = block
        gone = {number for number in wanted if number <= last}
        wanted = [number for number in wanted if number > last]
        kept = [one for one in letters if one.id not in gone]
        if len(kept) < len(letters):
            dropped += count - len(kept)
            _replace(connection, project_id, last, count, kept)
    return dropped


def drop_all(connection: apsw.Connection, project_id: str) -> int:
    """Delete all letters of a project; returns how many there were."""
    letters, size, _ = connection.execute(sql("letters.amount"), (project_id,)).get or (0, 0, 0)
    connection.execute(sql("letters.drop_all"), (project_id,))
    connection.execute(sql("letters.change_amount"), (project_id, -letters, -size, 0))
    return int(letters)


def move_old(connection: apsw.Connection, most_bytes: int) -> bool:
    """Move some letters of the layout before 0003 into blocks, with their numbers; returns whether more are left."""
    by_project: dict[str, list[DeadLetter]] = defaultdict(list)
    size = last = 0
    for k, project, trace, event, reason, tries, sent_at, died_at in connection.execute(sql("letters.of_old_layout")):
        letter = DeadLetter(k, project, trace, event, reason, tries, time_of(sent_at), time_of(died_at))
        by_project[project].append(letter)
        last = k
        size += len(event)
        if size >= _MOST_BYTES:
            break
    for project, letters in by_project.items():
        for some in _parts(letters):
            end = some[-1].id or 0
            _store(connection, end, Block(project, 0, len(some), _packed(some, end)))
        _trim(connection, project, most_bytes)
    connection.execute(sql("letters.drop_of_old_layout"), (last,))
    return bool(by_project)


def time_of(microseconds: int) -> datetime:
    """Parse a stored time, in microseconds since 1970."""
    found = from_microseconds(microseconds)
    assert found is not None
    return found


def _parts(letters: Iterable[DeadLetter]) -> Iterator[list[DeadLetter]]:
    part: list[DeadLetter] = []
    size = 0
    for letter in letters:
        part.append(letter)
        size += len(letter.event) + len(letter.reason)
        if size >= _MOST_BYTES or len(part) >= _MOST_LETTERS:
            yield part
            part, size = [], 0
    if part:
        yield part


def _packed(letters: Iterable[DeadLetter], last: int) -> bytes:
    rows = [
        _Row(
            last - (letter.id or 0),
            letter.trace,
            letter.event,
            letter.reason,
            letter.tries,
            to_microseconds(letter.sent_at) or 0,
            to_microseconds(letter.died_at) or 0,
        )
        for letter in letters
    ]
    return zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compress(msgspec.msgpack.encode(rows))


def _next(connection: apsw.Connection, project_id: str, start: int) -> tuple[int, int, list[DeadLetter]] | None:
    """The project's first block that may have numbers from ``start`` on: last number, number of letters, letters.

    A damaged block has one letter, which says so and stands for all of them.
    """
    row = connection.execute(sql("letters.next_block"), (project_id, start)).get
    if row is None:
        return None
    last, count, body = row
    try:
        rows = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(body), type=list[_Row])
    except (zstandard.ZstdError, msgspec.MsgspecError):
        reason = f"the file of the queue is damaged: {count:,} dead letters can't be read"
        return last, count, [DeadLetter(last, project_id, "", b"", reason, 0, _UNKNOWN, _UNKNOWN)]
    letters = [
        DeadLetter(
            last - one.back,
            project_id,
            one.trace,
            one.event,
            one.reason,
            one.tries,
            time_of(one.sent_at),
            time_of(one.died_at),
        )
        for one in rows
    ]
    return last, count, letters


def _store(connection: apsw.Connection, last: int, block: Block) -> None:
    connection.execute(sql("letters.bury"), (last, block.project_id, block.letters, block.body))
    size = len(block.body) + _BLOCK_BYTES
    connection.execute(sql("letters.change_amount"), (block.project_id, block.letters, size, 0))


def _replace(connection: apsw.Connection, project_id: str, last: int, before: int, kept: list[DeadLetter]) -> None:
    """Rewrite a block of ``before`` letters with fewer letters, or delete it."""
    _, _, body = connection.execute(sql("letters.next_block"), (project_id, last)).get
    if kept:
        packed = _packed(kept, last)
        connection.execute(sql("letters.rewrite"), (len(kept), packed, last))
        change = len(packed) - len(body)
    else:
        connection.execute(sql("letters.drop_block"), (last,))
        change = -len(body) - _BLOCK_BYTES
    connection.execute(sql("letters.change_amount"), (project_id, len(kept) - before, change, 0))


def _trim(connection: apsw.Connection, project_id: str, most_bytes: int) -> None:
    letters, size, _ = connection.execute(sql("letters.amount"), (project_id,)).get
    while size > most_bytes:
        last, in_block, body = connection.execute(sql("letters.oldest"), (project_id,)).get
        if in_block >= letters:
            return
        connection.execute(sql("letters.drop_block"), (last,))
        gone = body + _BLOCK_BYTES
        connection.execute(sql("letters.change_amount"), (project_id, -in_block, -gone, in_block))
        letters, size = letters - in_block, size - gone
