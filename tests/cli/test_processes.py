"""Following the logs of the parts of `memtrace dev`."""

from __future__ import annotations

from pathlib import Path

from api.cli.processes import Log


def test_lines_come_once_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "part.log"
    log = Log(path)
    assert log.lines() == []
    with path.open("ab", buffering=0) as file:
        file.write(b"one\ntw")
        assert log.lines() == ["one"]
        file.write(b"o\n\xff\n")
        assert log.lines() == ["two", "\ufffd"]
    assert log.lines() == []
    path.write_bytes(b"anew\n")
    assert log.lines() == ["anew"]


def test_a_line_without_an_end_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "part.log"
    path.write_bytes(b"x" * (3 << 20))
    assert sum(len(line) for line in Log(path).lines()) == 3 << 20


def test_what_stands_there_can_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "part.log"
    path.write_bytes(b"before\n")
    log = Log(path, from_end=True)
    with path.open("ab") as file:
        file.write(b"after\n")
    assert log.lines() == ["after"]
