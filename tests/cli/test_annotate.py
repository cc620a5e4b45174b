"""`memtrace annotate`: a team on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from api.cli.context import DEFAULT_PROJECT
from tests.cli.conftest import Cli
from tests.contract.annotating import failing
from tests.factory import TraceBuilder


@pytest.fixture
def team(stored: Callable[[TraceBuilder], Cli]) -> Cli:
    """Three failures, and a queue of them for Ada and Ben."""
    cli = stored(failing(DEFAULT_PROJECT, 3))
    people = ("--person", "Ada", "--person", "Ben", "--person", "Cleo")
    made = cli("annotate", "queue", "create", "monday", "--seed", "s", *people, "--json").json
    assert (made["name"], made["annotators"], made["progress"]["cases"]) == ("monday", 2, 3)
    return cli


def judged(cli: Cli, person: str, *said: str) -> dict[str, Any]:
    """Get the next case of a person, and submit a verdict."""
    case = cli("annotate", "next", "monday", "--author", person, "--json").json
    done = cli("annotate", "submit", "monday", case["failureId"], *said, "--author", person, "--json").json
    assert (done["progress"], done["verdict"]["author"]) == ("done", person)
    return dict(done)


def people(cli: Cli) -> list[str]:
    given = [verdict for failure in cli("failures", "--json").json for verdict in failure["verdicts"]]
    return sorted(verdict["author"] for verdict in given if verdict["method"] == "human")


def test_a_team_judges_disagrees_and_is_decided(team: Cli) -> None:
    annotation = ("--type", "AnnotationError", "--reason", "the gold answer is wrong", "--confidence", "0.75")
    for person in ("Ada", "Ben"):
        for _ in range(3):
            said = (
                annotation if person == "Ada" else ("--type", "UpdateError", "--operation", "step", "--reason", "lost")
            )
            judged(team, person, *said)
        assert team("annotate", "next", "monday", "--author", person, "--json").json is None
    shown = team("annotate", "queue", "show", "monday", "--json").json
    assert (shown["progress"]["done"], shown["agreement"]["cases"], shown["agreement"]["agreed"]) == (3, 3, 0)
    assert [one["done"] for one in shown["progress"]["people"]] == [3, 3, 0]
    disputes = team("annotate", "disputes", "monday", "--json").json
    assert [[side["name"] for side in one["sides"]] for one in disputes] == [["A", "B"]] * 3
    assert "Ada" not in json.dumps([one["sides"] for one in disputes])
    failure = disputes[0]["failureId"]
    refused = team("annotate", "adjudicate", "monday", failure, *annotation, "--author", "Ada", code=4)
    assert "you have judged it yourself" in refused.err
    final = team("annotate", "adjudicate", "monday", failure, *annotation, "--author", "Dan", "--json").json
    assert (final["author"], final["attributes"]["label"]["annotators"]) == ("Dan", ["Ada", "Ben"])
    assert team("annotate", "disputes", "monday", "--json").json[0]["adjudicated"]["id"] == final["id"]
    assert people(team) == ["Ada"] * 3 + ["Ben"] * 3 + ["Dan"]
    for command in (("queue", "list"), ("queue", "show", "monday"), ("disputes", "monday")):
        assert team("annotate", *command).out


def test_labels_of_a_team_are_exported_and_imported_again(team: Cli, tmp_path: Any) -> None:
    annotation = ("--type", "AnnotationError", "--reason", "so")
    done = judged(team, "Ada", *annotation)
    for _ in range(3):
        judged(team, "Ben", "--type", "UpdateError", "--operation", "step", "--reason", "lost")
    team("annotate", "adjudicate", "monday", done["failureId"], *annotation, "--author", "Dan")
    file = tmp_path / "labels.jsonl"
    team("labels", "export", file)
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    about = [one for one in lines if one["query_id"] == _question(team, done["failureId"])]
    assert [(one["author"], one.get("adjudicated")) for one in about] == [("Dan", True), ("Ada", None), ("Ben", None)]
    assert about[0]["annotators"] == ["Ada", "Ben"]
    assert team("labels", "import", file, "--json").json == {"imported": 5, "unchanged": 5, "unmatched": []}
    team("verdict", done["failureId"], "--undo", "--author", "Ada")
    assert team("labels", "import", file, "--json").json["unchanged"] == 4
    team("labels", "export", tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_text("utf-8") == file.read_text("utf-8")


def _question(cli: Cli, failure: str) -> str:
    return str(next(one["questionExternalId"] for one in cli("failures", "--json").json if one["id"] == failure))


def test_skip_and_undo(team: Cli) -> None:
    first = team("annotate", "next", "monday", "--author", "Ada", "--json").json
    assert first["failure"]["question"]
    assert (
        team("annotate", "skip", "monday", first["failureId"], "--author", "Ada", "--json").json["progress"]
        == "skipped"
    )
    back = team("annotate", "undo", "monday", "--author", "Ada", "--json").json
    assert (back["failureId"], back["progress"]) == (first["failureId"], "reserved")
    judged(team, "Ada", "--reason", "no idea")
    assert people(team) == ["Ada"]
    assert team("annotate", "undo", "monday", "--author", "Ada", "--json").json["progress"] == "reserved"
    assert people(team) == []
    assert "nothing to undo" in team("annotate", "undo", "monday", "--author", "Ada", code=4).err


def test_who_works_here_sees_no_more_than_they_may(team: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """MEMTRACE_PERSON makes all commands those of a person. Without a person, the keeper sees everything."""
    everything = team("failures", "--json").json
    assert all(one["verdicts"] for one in everything)
    monkeypatch.setenv("MEMTRACE_PERSON", "Ada")
    assert not any(one["verdicts"] for one in team("failures", "--json").json)
    assert team("blame", "--by", "operation", "--json").json == []
    first = everything[0]["id"]
    for words in (("attribute", "--all"), ("attribute", "--failure", first), ("why-not", first)):
        told = team(*words)
        assert ("judge" in told.err, "error" in told.out.casefold()) == (True, False), words
        assert team(*words, "--json").json == []
    assert "What others say is not shown" in team("verdict", first, "--history").err
    case = team("annotate", "next", "monday", "--json").json
    assert case["person"] == "Ada"
    team("annotate", "submit", "monday", case["failureId"], "--reason", "no idea")
    seen = {one["id"]: len(one["verdicts"]) for one in team("failures", "--json").json}
    assert {count for id_, count in seen.items() if id_ != case["failureId"]} == {0}
    assert seen[case["failureId"]] == 2
    monkeypatch.setenv("MEMTRACE_PERSON", "Dan")
    assert team("failures", "--json").json != []
    assert "'Dan' is not among its annotators" in team("annotate", "next", "monday", code=4).err


def test_queues_are_closed_and_deleted(team: Cli) -> None:
    case = team("annotate", "next", "monday", "--author", "Ada", "--json").json
    closed = team("annotate", "queue", "close", "monday", "--json").json
    assert (closed["closedBy"], bool(closed["closedAt"])) == ("command line", True)
    refused = team("annotate", "submit", "monday", case["failureId"], "--author", "Ada", "--reason", "long", code=4)
    assert "is closed; what you said is kept as a draft" in refused.err
    assert team("annotate", "queue", "delete", "monday", "--yes", "--json").json["name"] == "monday"
    assert team("annotate", "queue", "list", "--json").json == []
    team("annotate", "next", "monday", code=3)
    team("annotate", "queue", "create", "tuesday", "--count", "1", "--order", "errorType")
    assert "there is a queue 'tuesday' already" in team("annotate", "queue", "create", "tuesday", code=4).err
