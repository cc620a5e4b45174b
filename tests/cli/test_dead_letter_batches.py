"""Which dead letters a command works on, in which batches, and in which order."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from api.cli import dlq
from api.cli.dlq import _chosen, _document, _each, _event, _in_order, _together
from api.cli.errors import UsageError
from ingest.queue.protocol import DeadLetter
from schema.errors import NotFoundError

NOW = datetime(2026, 1, 1, 12, 0, 0, 5, tzinfo=UTC)


def letter(number: int, event: bytes = b"{}", trace: str = "t") -> DeadLetter:
    return DeadLetter(number, "p", trace, event, "no reason", 3, NOW, NOW)


@dataclass
class Letters:
    """A queue with dead letters. ``more`` come while the first page is read."""

    kept: list[DeadLetter]
    more: list[DeadLetter] = field(default_factory=list)
    asked: list[tuple[int, int]] = field(default_factory=list)

    def letters(self, project_id: str) -> Letters:
        assert project_id == "p"
        return self

    async def count(self) -> int:
        return len(self.kept)

    async def page(self, after: int, most: int) -> list[DeadLetter]:
        self.asked.append((after, most))
        self.kept, self.more = self.kept + self.more, []
        return [one for one in self.kept if (one.id or 0) > after][:most]

    async def get(self, letter_id: int) -> DeadLetter:
        for one in self.kept:
            if one.id == letter_id:
                return one
        raise NotFoundError(str(letter_id))


async def each(letters: Letters, ids: list[int] | None) -> list[int | None]:
    queue: Any = letters
    return [one.id async for one in _each(queue, "p", ids)]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5])
async def test_all_letters_are_those_that_exist_now(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Events that are sent again may die again: their new letters are not sent in the same run."""
    monkeypatch.setattr(dlq, "_PAGE", 2)
    kept = [letter(10 * number) for number in range(1, count + 1)]
    found = await each(Letters(kept, [letter(1000), letter(1001)]), None)
    assert found == [one.id for one in kept]


async def test_letters_that_somebody_else_drops_meanwhile_end_the_run() -> None:
    class Fewer(Letters):
        async def count(self) -> int:
            return 5

    assert await each(Fewer([letter(1), letter(2)]), None) == [1, 2]


async def test_named_letters_come_in_the_order_of_their_names() -> None:
    letters = Letters([letter(number) for number in (1, 2, 3)])
    assert await each(letters, [3, 1]) == [3, 1]
    with pytest.raises(NotFoundError):
        await each(letters, [2, 9])


@pytest.mark.parametrize(
    ("sizes", "batches"),
    [
        ([], []),
        ([1], [[1]]),
        ([1, 1, 1], [[1, 1, 1]]),
        ([1, 1, 1, 1], [[1, 1, 1], [1]]),
        ([9, 1], [[9, 1]]),
        ([10, 1], [[10], [1]]),
        ([5, 5, 5], [[5, 5], [5]]),
        ([50], [[50]]),
    ],
)
async def test_letters_are_sent_in_batches(
    monkeypatch: pytest.MonkeyPatch, sizes: list[int], batches: list[list[int]]
) -> None:
    monkeypatch.setattr(dlq, "_SENT_TOGETHER", 3)
    monkeypatch.setattr(dlq, "_BYTES_TOGETHER", 10)

    async def some() -> AsyncIterator[DeadLetter]:
        for number, size in enumerate(sizes):
            yield letter(number, b"x" * size)

    assert [[len(one.event) for one in batch] async for batch in _together(some())] == batches


def event(type_: str, trace: str, **said: Any) -> bytes:
    told = {"v": 1, "type": type_, "trace": trace, "time": "2026-01-01T00:00:00.000000Z"} | said
    return msgspec.json.encode(told)


def test_references_come_after_their_targets_in_each_trace() -> None:
    def use(trace: str) -> bytes:
        return event("used", trace, operation="o", variable="v", position=0)

    def begin(trace: str) -> bytes:
        return event("operationStarted", trace, operation="o", name="o", kind="Other")

    letters = [
        letter(1, use("a"), "a"),
        letter(2, b"no event", "a"),
        letter(3, begin("b"), "b"),
        letter(4, begin("a"), "a"),
        letter(5, use("b"), "b"),
    ]
    assert [one.id for one in _in_order(letters)] == [4, 1, 2, 3, 5]
    assert _in_order([]) == []


def test_letters_are_named_or_all_are_meant() -> None:
    assert _chosen([3, 1, 3], False) == [3, 1]
    assert _chosen(None, True) is None
    assert _chosen([], True) is None
    for ids, every in (([1], True), (None, False), ([], False)):
        with pytest.raises(UsageError, match="name IDs, or say --all"):
            _chosen(ids, every)


def test_a_letter_tells_what_died_when_and_why() -> None:
    found = _document(letter(7, event("used", "t", operation="o", variable="v", position=0)))
    assert found == {
        "id": 7,
        "projectId": "p",
        "trace": "t",
        "type": "used",
        "reason": "no reason",
        "tries": 3,
        "sentAt": "2026-01-01T12:00:00.000005Z",
        "diedAt": "2026-01-01T12:00:00.000005Z",
    }
    assert _document(letter(7, b"[1]"))["type"] is None
    broken = replace(letter(7), event=b"no json \xff" + b"x" * 500)
    assert _event(broken) == "no json \ufffd" + "x" * 191
