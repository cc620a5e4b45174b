"""How commands end: exit codes, messages without tracebacks, and files that are complete or missing."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from api.cli.context import DEFAULT_PROJECT
from api.cli.main import command_line
from tests.cli.conftest import ROOT, SAMPLE, Cli
from tests.contract.samples import assistant
from tests.factory import TraceBuilder


@pytest.mark.parametrize(
    "arguments",
    [
        ("trace", "nothing"),
        ("operation", "nothing"),
        ("variable", "nothing"),
        ("value", "nothing"),
        ("versions", "nothing"),
        ("closure", "nothing"),
        ("path", "nothing", "query:assistant-qa-6@1"),
        ("path", "query:assistant-qa-6@1", "nothing"),
        ("export", "nothing"),
        ("delete", "nothing", "--yes"),
        ("failures", "--trace", "nothing"),
        ("stats", "--trace", "nothing"),
        ("search", "word", "--trace", "nothing"),
        ("closure", "query:assistant-qa-6@1", "--trace", "nothing"),
    ],
)
def test_what_is_not_there_is_3(sample: Cli, arguments: tuple[str, ...]) -> None:
    result = sample(*arguments, code=3)
    assert result.out == ""
    assert result.err.startswith("error: no ")
    assert "'nothing'" in result.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("frobnicate",),
        ("versions",),
        ("closure", "x", "--direction", "sideways"),
        ("closure", "x", "--kind", "Nonsense"),
        ("closure", "x", "--max-nodes", "0"),
        ("closure", "x", "--mermaid", "--json"),
        ("import", "x.json", "--timezone", "Mars/Olympus"),
        ("import", "x.json", "--timezone", "../etc/passwd"),
        ("traces", "--unknown"),
        ("delete", "assistant-sample"),
    ],
)
def test_usage_is_2(sample: Cli, arguments: tuple[str, ...]) -> None:
    assert sample(*arguments, code=2).out == ""


def test_an_ambiguous_id_is_2_and_a_trace_decides(stored: Callable[[TraceBuilder], Cli]) -> None:
    stored(assistant(DEFAULT_PROJECT, "one"))
    cli = stored(assistant(DEFAULT_PROJECT, "two"))
    assert "an id that fits several things" in " ".join(cli("--help").out.split())
    assert "ambiguous" in cli("closure", "answer", code=2).err
    one, two = (cli("closure", "answer", "--trace", name, "--json").json for name in ("one", "two"))
    assert one["variables"][0]["traceId"] != two["variables"][0]["traceId"]


def test_a_store_that_is_not_there_is_5(cli: Cli, tmp_path: Path) -> None:
    for command in ("traces", "stats", "doctor", "failures"):
        result = cli(command, code=5)
        assert str(tmp_path / "test.db") in result.err
    assert not (tmp_path / "test.db").exists()
    cli.plain("import", SAMPLE, "--store", f"sqlite:///{tmp_path / 'none' / 'test.db'}", code=5)


def test_a_file_that_is_no_store_is_5(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "test.db").write_bytes(b"no database " * 1000)
    assert cli("traces", code=5).err.startswith("error: ")


@pytest.mark.parametrize("text", ["", "no JSON", "[]", '{"graph_id": 7}', '{"graph_id": "g", "data": {"nodes": [{}]}}'])
def test_bad_input_is_4_and_leaves_nothing(cli: Cli, tmp_path: Path, text: str) -> None:
    cli("import", SAMPLE)
    before = cli("stats", "--json").json["counts"]
    (tmp_path / "bad.json").write_text(text)
    result = cli("import", "bad.json", code=4)
    assert "bad.json" in result.err
    assert cli("stats", "--json").json["counts"] == before


def test_other_content_under_the_same_ids_is_4(cli: Cli, tmp_path: Path) -> None:
    cli("import", SAMPLE)
    changed = SAMPLE.read_text("utf-8").replace("I live in a flat in Leeds", "I live in a flat in York")
    (tmp_path / "changed.json").write_text(changed, "utf-8")
    result = cli("import", "changed.json", "--json", code=4)
    assert "changed.json" in result.json[0]["error"]


def test_export_gives_back_what_was_imported(cli: Cli, tmp_path: Path) -> None:
    cli("import", SAMPLE)
    assert cli("export", "assistant-sample").out == SAMPLE.read_text("utf-8")
    (tmp_path / "out.json").write_text("before")
    cli("export", "assistant-sample", "-o", tmp_path / "out.json")
    assert (tmp_path / "out.json").read_bytes() == SAMPLE.read_bytes()
    cli("export", "assistant-sample", "-o", "/dev/null")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_an_export_that_fails_leaves_the_file_as_it_was(stored: Callable[[TraceBuilder], Cli], tmp_path: Path) -> None:
    trace = assistant(DEFAULT_PROJECT)
    trace.trace = replace(trace.trace, source="somebody")
    cli = stored(trace)
    (tmp_path / "out.json").write_text("before")
    assert "which has no file format" in cli("export", "assistant", "-o", tmp_path / "out.json", code=4).err
    assert (tmp_path / "out.json").read_text() == "before"
    assert not list(tmp_path.glob("*.part"))
    assert not list(tmp_path.glob(".*.part"))
    assert "can't be written" in cli("export", "assistant", "-o", tmp_path / "none" / "out.json", code=1).err


def test_a_value_is_printed_byte_for_byte(stored: Callable[[TraceBuilder], Cli]) -> None:
    trace = TraceBuilder(DEFAULT_PROJECT)
    text = "no newline at the end, \x1b[31m and\r\n\ttabs, 漢字" * 100
    trace.variable("raw", text)
    out, err = stored(trace).process("value", "raw").communicate()
    assert out == text.encode()
    assert err == b""


def test_delete_without_a_terminal_needs_yes(cli: Cli) -> None:
    cli("import", SAMPLE)
    assert "--yes" in cli("delete", "assistant-sample", code=2).err
    assert len(cli("traces", "--json").json) == 1
    deleted = cli("delete", "assistant-sample", "--yes", "--json").json
    assert deleted["deleted"]["Trace"] == 1
    assert deleted["deleted"]["Failure"] == 3
    assert not any(cli("stats", "--json").json["counts"].values())
    cli("delete", "assistant-sample", "--yes", code=3)


def test_delete_asks_at_a_terminal(cli: Cli) -> None:
    pty = pytest.importorskip("pty")
    cli("import", SAMPLE)
    for answer, code, left in ((b"n\n", 1, 1), (b"y\n", 0, 0)):
        outer, inner = pty.openpty()
        os.write(outer, answer)
        process = cli.process("delete", "assistant-sample", stdin=inner)
        out, err = process.communicate()
        os.close(outer)
        os.close(inner)
        assert process.returncode == code
        assert b"Delete the trace" in err
        assert b"Delete the trace" not in out
        assert len(cli("traces", "--json").json) == left


def test_doctor_shows_what_it_found(sample: Cli) -> None:
    out = sample("doctor").out
    assert "engine" in out
    assert "problems" in out
    assert "none" in out


def test_doctor_ends_with_1_where_there_are_problems(cli: Cli, tmp_path: Path) -> None:
    cli("import", SAMPLE)
    import apsw

    connection = apsw.Connection(str(tmp_path / "test.db"))
    connection.execute("DROP INDEX derivation_by_target")
    connection.close()
    result = cli("doctor", "--json", code=1)
    assert result.json["ok"] is False
    assert any("derivation_by_target" in problem for problem in result.json["problems"])
    assert "derivation_by_target" in cli("doctor", code=1).out


def test_migrate_makes_a_store(cli: Cli, tmp_path: Path) -> None:
    cli("migrate")
    assert (tmp_path / "test.db").is_file()
    assert cli("traces", "--json").json == []


def test_a_reader_that_goes_away_is_no_error(sample: Cli) -> None:
    for arguments in (("traces",), ("closure", "query:assistant-qa-6@1", "--json"), ("export", "assistant-sample")):
        reader, writer = os.pipe()
        os.close(reader)
        process = sample.process(*arguments, stdout=writer)
        os.close(writer)
        _, err = process.communicate()
        assert process.returncode == 141
        assert err == b""


def test_an_interrupt_is_130_at_once(cli: Cli, tmp_path: Path) -> None:
    process = cli.process("import", "-", stdin=subprocess.PIPE)
    while not (tmp_path / "test.db").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(300) == 130
    assert process.communicate() == (b"", b"error: interrupted\n")


def test_an_unexpected_error_is_one_line_and_with_debug_a_traceback(tmp_path: Path) -> None:
    program = (
        "from api.cli import check, main\n"
        "@check.commands.command()\n"
        "def burst() -> None:\n"
        "  raise ZeroDivisionError('a\\nb')\n"
        "main.start()"
    )
    for arguments, lines in ((("burst",), 1), (("--debug", "burst"), 2)):
        ran = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert ran.returncode == 1
        shown = ran.stderr.splitlines()
        if lines == 1:
            assert shown == ["error: unexpected ZeroDivisionError: a b (--debug shows where)"]
        else:
            assert shown[0].startswith("Traceback")


def _printed(program: str) -> str:
    """The output of a program."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    return ran.stdout


def test_help_loads_no_engine() -> None:
    program = (
        "import sys\n"
        "from typer.testing import CliRunner\n"
        "from api.cli.main import command_line\n"
        "assert CliRunner().invoke(command_line(), ['--help']).exit_code == 0\n"
        "heavy = ('apsw', 'neo4j', 'obstore', 'zstandard', 'msgspec', 'store', 'asyncio')\n"
        "print([module for module in heavy if module in sys.modules])"
    )
    assert _printed(program) == "[]\n"


def test_a_command_loads_no_other_command() -> None:
    program = (
        "import sys\n"
        "from api.cli.main import command_line\n"
        "command_line(['--store', 'sqlite:///x.db', 'serve'])\n"
        "print([module for module in ('rich', 'api.cli.browse', 'api.cli.output') if module in sys.modules])"
    )
    assert _printed(program) == "[]\n"


def test_the_names_of_all_commands_are_known() -> None:
    whole = get_command(command_line())
    assert isinstance(whole, TyperGroup)
    for words in (["lables", "export"], ["--project", "blame", "--help"], ["--project=x"]):
        some = get_command(command_line(words))
        assert isinstance(some, TyperGroup)
        assert list(some.commands) == list(whole.commands)
    for name in set(whole.commands) - {"help"}:
        alone = get_command(command_line([name]))
        assert isinstance(alone, TyperGroup)
        assert name in alone.commands
        assert len(alone.commands) < len(whole.commands) / 2
