"""Reading files, and writing files that appear whole or not at all."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from api.cli.files import complaining, graph_files, read_file, whole_file
from schema.errors import InputError, MemTraceError


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_bytes(b"old")
    with whole_file(path) as out:
        out.write(b"new")
        out.flush()
        assert path.read_bytes() == b"old"
        (part,) = (one for one in tmp_path.iterdir() if one != path)
        assert (part.name.startswith(".out.json."), part.suffix) == (True, ".part")
    assert [one.read_bytes() for one in tmp_path.iterdir()] == [b"new"]


def test_a_file_that_breaks_off_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_bytes(b"old")
    with pytest.raises(TypeError), whole_file(path) as out:
        out.writelines([b"half", "no bytes"])  # type: ignore[list-item]
    assert [one.read_bytes() for one in tmp_path.iterdir()] == [b"old"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    path, link = tmp_path / "out.json", tmp_path / "link"
    link.symlink_to(path)
    with whole_file(link) as out:
        out.write(b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"


def test_a_long_name_is_written_too(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 250)
    with whole_file(path) as out:
        out.write(b"new")
    assert path.read_bytes() == b"new"


def test_a_stream_is_written_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with whole_file(path) as out:
        out.write(b"new")
    assert os.read(reader, 10) == b"new"
    os.close(reader)
    assert [one.name for one in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.parametrize("output", [None, Path("-")])
def test_without_a_file_it_goes_to_the_terminal(output: Path | None, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    with whole_file(output) as out:
        out.write(b"new")
    assert capfdbinary.readouterr().out == b"new"


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    path = tmp_path / "none" / "out.json"
    with pytest.raises(MemTraceError) as caught, whole_file(path):
        pass
    assert str(caught.value) == f"{path} can't be written: No such file or directory"


def test_a_file_is_read_or_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "in"
    with pytest.raises(MemTraceError) as caught:
        read_file(str(path))
    assert str(caught.value) == f"{path} can't be read: No such file or directory"
    path.write_bytes(b"\xff\r\n")
    assert read_file(str(path)) == b"\xff\r\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"typed")))
    assert read_file("-") == b"typed"


def test_each_path_without_a_graph_is_complained_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    good = tmp_path / "graph.json"
    good.write_text("{}")
    errors: list[MemTraceError] = []
    found = graph_files([tmp_path / "empty", good, tmp_path / "none"], complaining(errors))
    assert found == [good]
    assert [type(one) for one in errors] == [InputError, InputError]
    told = " ".join(capsys.readouterr().err.split())
    assert all(" ".join(str(one).split())[:40] in told for one in errors)
