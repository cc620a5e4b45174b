"""Short texts and small decisions of commands: exit codes, paces, streams, prices, dead letters, confirmations."""

from __future__ import annotations

import errno
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from api.cli import dlq
from api.cli.confirming import check_asked, confirm
from api.cli.errors import ExitCode, UsageError, by_words, complain, exit_code, note, with_each
from api.cli.pace import Pace, _seconds, _time
from api.cli.replay import _PRICES, _named, _options, _value
from api.cli.streams import problem_of_output
from ingest.queue.protocol import DeadLetter
from schema.errors import (
    AmbiguousError,
    Candidate,
    ConflictError,
    DiskFullError,
    InputError,
    MemTraceError,
    NotFoundError,
    StoreError,
)
from tests.queue.sets import event_line

NOW = datetime(2026, 1, 2, 3, 4, 5, 600000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("x"), ExitCode.USAGE),
        (AmbiguousError("x", []), ExitCode.USAGE),
        (NotFoundError("x", "trace"), ExitCode.NOT_FOUND),
        (InputError("a", "b", "c"), ExitCode.BAD_INPUT),
        (ConflictError("Trace", "x", "name"), ExitCode.BAD_INPUT),
        (StoreError("x"), ExitCode.STORE),
        (DiskFullError("x"), ExitCode.STORE),
        (MemTraceError("x"), ExitCode.FAILED),
    ],
)
def test_an_error_has_an_exit_code(error: MemTraceError, code: ExitCode) -> None:
    assert exit_code(error) is code


def test_the_exit_codes_are_public() -> None:
    assert {one.name: one.value for one in ExitCode} == {
        "DONE": 0,
        "FAILED": 1,
        "USAGE": 2,
        "NOT_FOUND": 3,
        "BAD_INPUT": 4,
        "STORE": 5,
        "INTERRUPTED": 130,
        "BROKEN_PIPE": 141,
    }


def test_an_ambiguous_word_is_written_out_for_each_meaning() -> None:
    one, other = "a1" * 16, "b2" * 16
    described = [Candidate(one, "Trace", "run", one), Candidate(other, "Variable", "", one)]
    error = AmbiguousError("a1a1a1a1", [one, other], described)
    assert with_each(error, ["why", "a1a1a1a1", "--trace", "my run"]) == [
        f"memtrace why {one} --trace 'my run'  # trace run",
        f"memtrace why {other[:8]} --trace 'my run'  # variable of trace {one[:8]}",
    ]
    assert with_each(error, ["why", "a1a1"]) == []


@pytest.mark.parametrize(
    ("error", "words", "told"),
    [
        (NotFoundError("green tea", ""), ["why", "green tea"], ". By its words: memtrace search 'green tea'"),
        (NotFoundError("tea?", ""), ["show", "x", "tea?"], ". By its words: memtrace search 'tea?'"),
        (NotFoundError("tea", ""), ["search", "tea"], ""),
        (NotFoundError("tea", ""), ["tea", "x"], ""),
        (NotFoundError("tea7", ""), ["why", "tea7"], ""),
        (InputError("tea", "", "x"), ["why", "tea"], ""),
    ],
)
def test_words_that_name_nothing_may_be_searched(error: MemTraceError, words: list[str], told: str) -> None:
    assert by_words(error, words) == told


def test_messages_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    complain("a\x1b[31m")
    note("b\x07")
    complained, noted = capsys.readouterr().err.splitlines()
    assert complained.startswith("error: a")
    assert noted.startswith("b")
    assert "\x1b" not in complained
    assert "\x07" not in noted


@pytest.mark.parametrize(("seconds", "shown"), [(0.04, "0.0 s"), (9.94, "9.9 s"), (10, "10 s"), (99.6, "100 s")])
def test_the_time_of_one_step(seconds: float, shown: str) -> None:
    assert _seconds(seconds) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.1, "1 s"), (89.4, "89 s"), (90, "2 min"), (5399, "90 min"), (5400, "1.5 h"), (36_000, "10.0 h")],
)
def test_the_time_that_is_left(seconds: float, shown: str) -> None:
    assert _time(seconds) == shown


def _conversation(user: str, messages: int, questions: int) -> Any:
    sessions = [SimpleNamespace(messages=[None] * messages)]
    return SimpleNamespace(user=user, sessions=sessions, questions=[None] * questions)


def test_a_pace_counts_what_is_done_and_what_is_left() -> None:
    clock = [0.0]
    pace = Pace([_conversation("a", 4, 2), _conversation("b", 4, 2)], 2, lambda: clock[0])
    assert (str(pace), pace.total, pace.seconds_left) == ("0 of 8 messages, 0 of 4 questions", 12, None)
    clock[0] = 8.0
    pace.said("construction", "a", 4)
    assert str(pace) == "4 of 8 messages (2.0 s each), 0 of 4 questions"
    clock[0] = 18.0
    pace.said("answers", "a", 1)
    # Of both users, 4 messages and 3 questions are left, and two users run at a time.
    assert (pace.done, pace.seconds_left) == (5, (4 * 2.0 + 3 * 10.0) / 2)
    assert str(pace) == "4 of 8 messages (2.0 s each), 1 of 4 questions (10 s each), about 19 s left"
    pace.said("import", "b", 1)  # finished by an earlier start
    pace.said("import", "b", 1)
    assert (pace.done, pace.seconds_left) == (11, 5.0)
    pace.said("answers", "a", 0)  # the conversation began again
    assert pace.done == 10
    pace.said("answers", "a", 2)
    assert (pace.done, str(pace).endswith("left")) == (12, False)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(errno.EBADF, "x"), "standard output is closed: there is nowhere to write the result"),
        (OSError(errno.ENOSPC, "No space left"), "standard output can't be written: No space left"),
        (OSError(errno.EDQUOT, "Quota"), "standard output can't be written: Quota"),
        (OSError(errno.EIO, "I/O"), "standard output can't be written: I/O"),
        (OSError(errno.ENOENT, "x"), None),
        (OSError(errno.ENOSPC, "x", "a file"), None),
        (ValueError("x"), None),
    ],
)
def test_a_problem_of_the_output_is_told(error: Exception, told: str | None) -> None:
    assert problem_of_output(error) == told


@pytest.mark.parametrize(
    ("set_", "cost", "prices", "problem"),
    [
        ({}, None, None, None),
        ({_PRICES[0]: "1"}, None, None, None),
        ({_PRICES[0]: "1", _PRICES[1]: "2.5"}, 3.0, (1.0, 2.5), None),
        ({_PRICES[0]: "1", _PRICES[1]: "dear"}, None, None, f"{_PRICES[0]} and {_PRICES[1]} must be numbers"),
        (
            {_PRICES[1]: "1"},
            3.0,
            None,
            f"--max-cost needs prices: set {_PRICES[0]} and {_PRICES[1]}, of a million tokens",
        ),
    ],
)
def test_prices_come_from_the_environment(
    set_: dict[str, str],
    cost: float | None,
    prices: tuple[float, float] | None,
    problem: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in _PRICES:
        monkeypatch.delenv(name, raising=False)
    for name, value in set_.items():
        monkeypatch.setenv(name, value)
    program = "p.py"
    if problem is not None:
        with pytest.raises(UsageError) as caught:
            _options(program, "py", 5.0, 6, cost, 7)
        assert str(caught.value) == problem
        return
    found = _options(program, "py", 5.0, 6, cost, 7)
    given = (found.program, found.python, found.seconds, found.max_calls, found.max_cost, found.prices, found.draws)
    assert given == (program, "py", 5.0, 6, cost, prices, 7)


@pytest.mark.parametrize(("said", "found"), [("a=b", ("a", Path("b"))), ("a=b=c", ("a", Path("b=c")))])
def test_a_name_and_a_file(said: str, found: tuple[str, Path]) -> None:
    assert _named(said) == found


@pytest.mark.parametrize("said", ["a", "=b", "a=", "="])
def test_a_name_without_a_file(said: str) -> None:
    with pytest.raises(UsageError, match=f"^'{said}': write NAME=FILE$"):
        _named(said)


def test_a_value_comes_from_a_file(tmp_path: Path) -> None:
    def file(name: str, data: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(data)
        return path

    assert _value(file("a.json", b'{"a": [1]}')) == {"a": [1]}
    assert _value(file("a.txt", b"one\n\n")) == "one\n"
    assert _value(file("b.txt", b'{"a": 1}')) == '{"a": 1}'
    for path, problem in (
        (file("bad.json", b"{"), "is no JSON"),
        (file("bad.txt", b"a\xff"), "byte 1: is not UTF-8"),
        (tmp_path / "none", "can't be read: No such file or directory"),
    ):
        with pytest.raises(InputError, match=problem) as caught:
            _value(path)
        assert str(caught.value).startswith(str(path))


def _letter(number: int, event: bytes, trace: str = "t") -> DeadLetter:
    return DeadLetter(number, "p", trace, event, "no", 3, NOW, NOW.replace(second=6))


def test_a_dead_letter_is_shown_as_json() -> None:
    known = _letter(7, b'{"type": "used", "v": 1}')
    assert dlq._document(known) == {
        "id": 7,
        "projectId": "p",
        "trace": "t",
        "type": "used",
        "reason": "no",
        "tries": 3,
        "sentAt": "2026-01-02T03:04:05.600000Z",
        "diedAt": "2026-01-02T03:04:06.600000Z",
    }
    assert dlq._event(known) == {"type": "used", "v": 1}
    assert dlq._time(known) == "2026-01-02 03:04:06 UTC"
    for event, shown in ((b"\xff" * 300, "\ufffd" * 200), (b"[1]", [1]), (b"{", "{"), (b'"\xff"', '"\ufffd"')):
        other = _letter(1, event)
        assert dlq._event(other) == shown
        assert dlq._document(other)["type"] is None


@pytest.mark.parametrize(("ids", "every", "found"), [([3, 1, 3], False, [3, 1]), (None, True, None), ([], True, None)])
def test_dead_letters_are_chosen(ids: list[int] | None, every: bool, found: list[int] | None) -> None:
    assert dlq._chosen(ids, every) == found


@pytest.mark.parametrize(("ids", "every"), [(None, False), ([], False), ([1], True)])
def test_dead_letters_are_chosen_in_one_way(ids: list[int] | None, every: bool) -> None:
    with pytest.raises(UsageError, match=r"^name IDs, or say --all$"):
        dlq._chosen(ids, every)


async def _stream(letters: list[DeadLetter]) -> AsyncIterator[DeadLetter]:
    for one in letters:
        yield one


async def test_dead_letters_are_sent_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    async def batches(letters: list[DeadLetter]) -> list[list[int | None]]:
        return [[one.id for one in some] async for some in dlq._together(_stream(letters))]

    letters = [_letter(number, b"1234") for number in range(5)]
    monkeypatch.setattr(dlq, "_SENT_TOGETHER", 2)
    assert await batches(letters) == [[0, 1], [2, 3], [4]]
    assert await batches(letters[:4]) == [[0, 1], [2, 3]]
    assert await batches([]) == []
    monkeypatch.setattr(dlq, "_SENT_TOGETHER", 9)
    monkeypatch.setattr(dlq, "_BYTES_TOGETHER", 12)
    assert await batches(letters) == [[0, 1, 2], [3, 4]]
    monkeypatch.setattr(dlq, "_BYTES_TOGETHER", 13)
    assert await batches(letters) == [[0, 1, 2, 3], [4]]


async def test_all_dead_letters_are_read_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dlq, "_PAGE", 2)
    there = [_letter(number, b"") for number in (1, 4, 5, 9, 12)]
    asked: list[tuple[int, int]] = []

    class _Letters:
        async def count(self) -> int:
            return 4  # one more has come since

        async def page(self, after: int, limit: int) -> list[DeadLetter]:
            asked.append((after, limit))
            return [one for one in there if (one.id or 0) > after][:limit]

        async def get(self, number: int) -> DeadLetter:
            return next(one for one in there if one.id == number)

    queue: Any = SimpleNamespace(letters=lambda project: {"p": _Letters()}[project])
    assert [one.id async for one in dlq._each(queue, "p", None)] == [1, 4, 5, 9]
    assert asked == [(0, 2), (4, 2)]
    assert [one.id async for one in dlq._each(queue, "p", [9, 1])] == [9, 1]
    del there[1:]  # others have dropped them meanwhile
    assert [one.id async for one in dlq._each(queue, "p", None)] == [1]


def test_dead_letters_are_sent_in_the_order_of_their_references() -> None:
    fields = {"name": "v", "kind": "Message", "version": 0, "value": "x", "mediaType": "text/plain"}
    letters = [
        _letter(1, event_line("used", "t", operation="o", variable="v", position=0)),
        _letter(2, b"broken"),
        _letter(3, event_line("variable", "t", variable="v", **fields)),
        _letter(4, event_line("session", "u", session="s"), "u"),
        _letter(5, event_line("operationStarted", "t", operation="o", name="o", kind="Other")),
    ]
    order = [one.id for one in dlq._in_order(letters)]
    assert set(order) == {1, 2, 3, 4, 5}
    assert order[3:] == [2, 4]  # of the first trace, what can't be read comes last
    assert order.index(1) == 2


def test_a_corrected_event_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "event.json"
    with pytest.raises(InputError) as caught:
        dlq._read(path)
    assert str(caught.value) == f"{path}: can't be read: No such file or directory"
    path.write_bytes(b"{}\n")
    assert dlq._read(path) == b"{}\n"


def test_nobody_can_be_asked_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: False))
    check_asked(True)
    with pytest.raises(UsageError) as caught:
        check_asked(False)
    assert str(caught.value) == "there is no terminal to ask at: say --yes to go on without being asked"
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    check_asked(False)


def test_a_no_ends_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[tuple[str, bool]] = []
    answers = iter([True, False])

    def ask(question: str, err: bool) -> bool:
        asked.append((question, err))
        return next(answers)

    monkeypatch.setattr(typer, "confirm", ask)
    confirm("Delete?", "Nothing was deleted.")
    assert capsys.readouterr().err == ""
    with pytest.raises(typer.Exit) as ended:
        confirm("Delete?", "Nothing was deleted.")
    assert (ended.value.exit_code, capsys.readouterr().err) == (1, "Nothing was deleted.\n")
    assert asked == [("Delete?", True)] * 2
