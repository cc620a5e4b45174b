"""A file of events: what is appended, what is dropped, and how both are counted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from memtrace.exporters.file import FileSink


def counts(sink: FileSink) -> tuple[int, int]:
    return sink.counts.sent, sink.counts.dropped


def test_lines_are_appended_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "events"
    path.write_bytes(b"before\n")
    sink = FileSink(path)
    assert sink.deliver([b"one\n", b"two\n"])
    assert sink.deliver([b"three\n"])
    assert (path.read_bytes(), counts(sink)) == (b"before\none\ntwo\nthree\n", (3, 0))
    assert sink.wait_seconds() is None


def test_lines_that_are_left_at_the_end_are_appended(tmp_path: Path) -> None:
    sink = FileSink(tmp_path / "events")
    sink.abandon([])
    assert not (tmp_path / "events").exists()
    sink.abandon([b"one\n", b"two\n"])
    assert ((tmp_path / "events").read_bytes(), counts(sink)) == (b"one\ntwo\n", (2, 0))


def test_a_new_file_is_for_its_user_only(tmp_path: Path) -> None:
    FileSink(tmp_path / "events").deliver([b"one\n"])
    assert (tmp_path / "events").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(("most", "whole"), [(None, True), (9, True), (8, True), (7, False), (4, False)])
def test_a_batch_that_the_file_has_no_room_for_is_dropped_whole(tmp_path: Path, most: int | None, whole: bool) -> None:
    path = tmp_path / "events"
    path.write_bytes(b"abc\n")
    sink = FileSink(path, most)
    assert sink.deliver([b"x\n", b"y\n"])
    assert path.read_bytes() == (b"abc\nx\ny\n" if whole else b"abc\n")
    assert counts(sink) == ((2, 0) if whole else (0, 2))
    sink.deliver([])
    assert counts(sink) == ((2, 0) if whole else (0, 2))


def test_a_file_that_can_not_be_written_loses_the_lines_and_says_so(tmp_path: Path) -> None:
    sink = FileSink(tmp_path / "missing" / "events")
    assert sink.deliver([b"one\n", b"two\n"])
    sink.abandon([b"three\n"])
    assert counts(sink) == (0, 3)
    (tmp_path / "missing").mkdir()
    assert sink.deliver([b"four\n"])
    assert counts(sink) == (1, 3)


def test_a_disk_that_fills_up_leaves_no_part_of_a_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, write = tmp_path / "events", os.write
    path.write_bytes(b"abc\n")

    def little(descriptor: int, data: bytes) -> int:
        if len(data) < 4:
            raise OSError(28, "No space left on device")
        return write(descriptor, data[:2])

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", little)
        sink = FileSink(path)
        sink.deliver([b"one\n", b"two\n"])
    assert (path.read_bytes(), counts(sink)) == (b"abc\n", (0, 2))
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:3]))
        sink.deliver([b"one\n", b"two\n"])
    assert (path.read_bytes(), counts(sink)) == (b"abc\none\ntwo\n", (2, 2))


def test_a_forked_process_counts_from_0(tmp_path: Path) -> None:
    sink = FileSink(tmp_path / "events")
    sink.deliver([b"one\n"])
    sink.forked()
    assert counts(sink) == (0, 0)
