"""Options before and after a command's name, the environment, and secrets in URIs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import SAMPLE, Cli


def test_options_stand_before_the_command_or_after_it(cli: Cli) -> None:
    cli.plain("import", SAMPLE, "--store", cli.store, "--project", "one")
    before = cli.plain("--store", cli.store, "--project", "one", "traces", "--json").json
    after = cli.plain("traces", "--json", "--project", "one", "--store", cli.store).json
    assert len(before) == 1
    assert before == after


def test_the_option_nearer_to_the_command_holds(cli: Cli) -> None:
    cli("import", SAMPLE, "--project", "one")
    assert cli("--project", "one", "traces", "--project", "two", "--json").json == []
    assert len(cli("--project", "two", "traces", "--project", "one", "--json").json) == 1


def test_the_environment_says_what_options_do_not(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTRACE_STORE", cli.store)
    monkeypatch.setenv("MEMTRACE_PROJECT", "one")
    cli.plain("import", SAMPLE)
    assert len(cli.plain("traces", "--json").json) == 1
    assert cli.plain("traces", "--project", "two", "--json").json == []


def test_the_default_store_is_a_file_in_this_folder(cli: Cli, tmp_path: Path) -> None:
    cli.plain("import", SAMPLE)
    assert (tmp_path / "memtrace.db").is_file()


def test_projects_know_nothing_of_each_other(cli: Cli) -> None:
    first, second = (cli("import", SAMPLE, "--project", name, "--json").json[0]["traceId"] for name in ("one", "two"))
    assert first != second
    cli("trace", second, "--project", "one", code=3)
    cli("delete", first, "--yes", "--project", "one")
    assert len(cli("failures", "--project", "two", "--json").json) == 3


def test_values_may_lie_outside_the_file(cli: Cli, tmp_path: Path) -> None:
    text = "long " * 2000
    graph = SAMPLE.read_text("utf-8").replace("Hello, nice to meet you!", text)
    (tmp_path / "graph.json").write_text(graph, "utf-8")
    values = (tmp_path / "values").as_uri()
    cli("import", "graph.json", "--values", values)
    assert any((tmp_path / "values").rglob("*.*"))
    assert text in cli("--values", values, "value", "U1:D1:1@1").out


@pytest.mark.parametrize(
    "uri",
    [
        "neo4j://neo4j:s3cret-word@localhost:7687",
        "bolt://s3cret-word@localhost",
        "neo4j:neo4j:s3cret-word@localhost",
        "neo4j:s3cret-word@localhost",
        "neo4j://a:s3cret-word@[::1",
    ],
)
@pytest.mark.parametrize("option", ["--store", "--values"])
def test_a_password_in_a_uri_is_refused_and_not_repeated(cli: Cli, option: str, uri: str) -> None:
    result = cli.plain("traces", option, uri, code=2)
    assert option in result.err
    assert "s3cret-word" not in result.err + result.out


def test_a_password_in_the_environment_s_uri_is_refused_too(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTRACE_STORE", "neo4j://neo4j:s3cret-word@localhost")
    result = cli.plain("traces", code=2)
    assert "s3cret-word" not in result.err + result.out


def test_a_password_file_that_can_not_be_read(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MEMTRACE_NEO4J_PASSWORD_FILE", str(tmp_path / "none"))
    result = cli.plain("traces", "--store", "neo4j://127.0.0.1:1", code=5)
    assert "password file" in result.err
    assert str(tmp_path / "none") in result.err


def test_a_server_that_does_not_answer(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "password").write_text("s3cret-word\n")
    monkeypatch.setenv("MEMTRACE_NEO4J_PASSWORD_FILE", str(tmp_path / "password"))
    result = cli.plain("traces", "--store", "bolt://127.0.0.1:1", "--values", tmp_path.as_uri(), code=5)
    assert "s3cret-word" not in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize("uri", ["postgres://host/db", "sqlite://memtrace.db", "sqlite:///"])
def test_what_is_no_store_is_a_usage_error(cli: Cli, uri: str) -> None:
    assert "error:" in cli.plain("traces", "--store", uri, code=2).err
