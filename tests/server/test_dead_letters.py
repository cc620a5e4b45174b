"""`memtrace dlq` on both queues: listing, mending, replaying and dropping events that could not be written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from uuid import uuid4

import pytest

from tests.server.event_workers import behind, event_worker, own_nats
from tests.server.running import Place, RunningServer, running, sqlite_place
from tests.server.wire_events import arrives, await_metric, drained, event, lines, message, metrics, send

_USED = "query($t: String!) { project { trace(reference: $t) { operations { nodes { used { name } } } } } }"


class Desk:
    """A server, and the dead letters of its projects."""

    def __init__(self, server: RunningServer) -> None:
        self.server = server
        self.mine = server.project
        self.other = f"other-{server.project}"

    def dlq(self, *arguments: str, project: str | None = None) -> CompletedProcess[str]:
        """Run `memtrace dlq` on a project."""
        return self.server.place.here("dlq", *arguments, "--project", project or self.mine)

    def letters(self, project: str | None = None) -> list[dict[str, Any]]:
        """What the command lists."""
        done = self.dlq("list", "--json", project=project)
        assert done.returncode == 0, done.stderr
        found: list[dict[str, Any]] = json.loads(done.stdout)
        return found

    def kill(self, trace: str, *names: str, project: str | None = None) -> list[dict[str, Any]]:
        """Send a message, an operation, and for each name an event that uses a variable of this name; the letters."""
        before = metrics(self.server.url)["memtrace_dead_letters"]
        said = [message(trace, "m"), event("operationStarted", trace, operation="o", name="o", kind="Other")]
        said += [self.use(trace, name) for name in names]
        answer = send(self.server, lines(*said), project=project).json()
        assert answer == {"accepted": len(said), "rejected": []}
        await_metric(self.server, "memtrace_dead_letters", before + len(names))
        return [letter for letter in self.letters(project) if letter["trace"] == trace]

    @staticmethod
    def use(trace: str, name: str) -> dict[str, Any]:
        """An operation used a variable."""
        return event("used", trace, operation="o", variable=name, position=0)

    def uses(self, trace: str) -> list[str]:
        """Names of the variables that the operation of a trace used, once nothing waits."""
        drained(self.server)
        with self.server.client() as client:
            answer = client.post("/graphql", json={"query": _USED, "variables": {"t": trace}}).json()
        (operation,) = answer["data"]["project"]["trace"]["operations"]["nodes"]
        return [variable["name"] for variable in operation["used"]]


@pytest.fixture(scope="module", params=["journal", "nats"])
def desk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A server on each queue that tries each event once."""
    folder = tmp_path_factory.mktemp("letters")
    place: Place = sqlite_place(folder)
    with ExitStack() as stack:
        if request.param == "nats":
            request.getfixturevalue("nats")  # skips where there is none
            place = behind(place, stack.enter_context(own_nats(folder)))
        server = stack.enter_context(running(place, folder, event_tries=1, rate_limit="1000000/minute"))
        if request.param == "nats":
            stack.enter_context(event_worker(place, folder, event_tries=1))
        found = Desk(server)
        server.key("writer", found.other)
        yield found


def test_a_mended_event_is_in_the_graph(desk: Desk, tmp_path: Path) -> None:
    trace = uuid4().hex
    (letter,) = desk.kill(trace, "missing")
    assert letter["reason"] == "variable: there is no variable 'missing' in this trace"
    assert (letter["projectId"], letter["trace"], letter["type"], letter["tries"]) == (desk.mine, trace, "used", 1)
    number = str(letter["id"])
    listed = desk.dlq("list")
    assert listed.returncode == 0
    assert "there is no variable 'missing'" in " ".join(listed.stdout.split())
    shown = desk.dlq("show", number)
    assert (shown.returncode, json.loads(shown.stdout)) == (0, desk.use(trace, "missing"))
    assert "there is no variable 'missing'" in shown.stderr
    assert json.loads(desk.dlq("show", number, "--json").stdout)["event"] == desk.use(trace, "missing")
    file = tmp_path / "mended.json"
    file.write_text(shown.stdout.replace("missing", "m"), "utf-8")
    assert desk.uses(trace) == []
    done = desk.dlq("replay", number, "--file", str(file), "--json")
    assert (done.returncode, json.loads(done.stdout)) == (0, {"replayed": 1})
    assert desk.uses(trace) == ["m"]
    assert letter["id"] not in [one["id"] for one in desk.letters()]
    assert desk.dlq("show", number).returncode == 3


def test_what_is_sent_again_as_it_is_is_written_when_what_it_names_has_come(desk: Desk) -> None:
    trace = uuid4().hex
    one, two = desk.kill(trace, "later1", "later2")
    assert send(desk.server, lines(message(trace, "later1"), message(trace, "later2"))).status_code == 200
    arrives(desk.server, trace, 3)
    done = desk.dlq("replay", str(one["id"]), str(two["id"]))
    assert (done.returncode, done.stdout) == (0, "Sent 2 again.\n")
    assert desk.uses(trace) == ["later1", "later2"]


def test_one_replay_of_all_finishes_what_can_be_finished(desk: Desk) -> None:
    """A chain of events in reverse order, where workers tried each event once."""
    trace, length = uuid4().hex, 40
    before = metrics(desk.server.url)["memtrace_dead_letters"]
    chain = [
        message(trace, f"m{number}") | {"revisionOf": f"m{number - 1}", "version": number}
        for number in range(length, 0, -1)
    ]
    for one in chain:
        assert send(desk.server, lines(one)).json()["accepted"] == 1
    await_metric(desk.server, "memtrace_dead_letters", before + length)
    assert send(desk.server, lines(message(trace, "m0"))).json()["accepted"] == 1
    arrives(desk.server, trace, 1)
    done = desk.dlq("replay", *(str(one["id"]) for one in desk.letters() if one["trace"] == trace))
    assert (done.returncode, done.stdout) == (0, f"Sent {length} again.\n")
    arrives(desk.server, trace, length + 1)
    assert [one for one in desk.letters() if one["trace"] == trace] == []


def test_what_is_sent_again_unmended_dies_again(desk: Desk) -> None:
    """A letter that dies again soon after must not be lost."""
    trace = uuid4().hex
    (first,) = desk.kill(trace, "never")
    assert desk.dlq("replay", str(first["id"])).returncode == 0
    drained(desk.server)
    (again,) = [one for one in desk.letters() if one["trace"] == trace]
    assert again["reason"] == first["reason"]


def test_letters_of_another_project_do_not_exist(desk: Desk) -> None:
    trace = uuid4().hex
    (letter,) = desk.kill(trace, "missing")
    (theirs,) = desk.kill(trace, "missing", project=desk.other)
    number = str(letter["id"])
    assert [one["id"] for one in desk.letters(desk.other)] == [theirs["id"]]
    for act in ("show", "replay", "drop"):
        foreign = desk.dlq(act, number, project=desk.other)
        nowhere = desk.dlq(act, "999999999", project=desk.other)
        assert (foreign.returncode, nowhere.returncode) == (3, 3)
        assert foreign.stderr.replace(number, "N") == nowhere.stderr.replace("999999999", "N")
    done = desk.dlq("drop", "--all", "--yes", "--json", project=desk.other)
    assert (done.returncode, json.loads(done.stdout)) == (0, {"dropped": 1})
    assert desk.letters(desk.other) == []
    assert letter in desk.letters()


def test_what_is_thrown_away_is_gone(desk: Desk) -> None:
    trace = uuid4().hex
    one, two, three = desk.kill(trace, "x1", "x2", "x3")
    done = desk.dlq("drop", str(two["id"]))
    assert (done.returncode, done.stdout) == (0, "Threw 1 away.\n")
    left = [one["id"] for one in desk.letters()]
    assert one["id"] in left
    assert three["id"] in left
    assert two["id"] not in left
    after = desk.dlq("list", "--json", "--after", str(one["id"]), "--limit", "1")
    assert [found["id"] for found in json.loads(after.stdout)] == [three["id"]]
    unasked = desk.dlq("drop", "--all")  # nobody is there to say yes
    assert unasked.returncode == 1
    assert len(desk.letters()) == len(left)
    assert desk.dlq("drop", "--all", "--yes").returncode == 0
    assert desk.letters() == []
    assert desk.uses(trace) == []


def test_what_is_done_to_letters_is_in_the_audit_log(desk: Desk) -> None:
    one, two, three = desk.kill(uuid4().hex, "y1", "y2", "y3")
    assert desk.dlq("replay", str(one["id"])).returncode == 0
    assert desk.dlq("drop", str(two["id"]), str(three["id"])).returncode == 0
    assert desk.dlq("drop", "999999999").returncode == 3
    drained(desk.server)
    assert desk.dlq("drop", "--all", "--yes").returncode == 0
    asked = "query($p: String!) { project(name: $p) { audit(first: 4) { nodes { actor action target outcome } } } }"
    with desk.server.client("admin") as client:
        answer = client.post("/graphql", json={"query": asked, "variables": {"p": desk.mine}}).json()
    assert answer["data"]["project"]["audit"]["nodes"] == [
        {"actor": "command line", "action": action, "target": target, "outcome": outcome}
        for action, target, outcome in (
            ("dropDeadLetters", "all", "ok"),
            ("dropDeadLetters", "999999999", "NotFoundError"),
            ("dropDeadLetters", f"{two['id']}, {three['id']}", "ok"),
            ("replayDeadLetters", str(one["id"]), "ok"),
        )
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["replay"], "--all"),
        (["drop"], "--all"),
        (["replay", "1", "--all"], "--all"),
        (["replay", "1", "2", "--file", "x.json"], "--file"),
        (["replay", "--all", "--file", "x.json"], "--file"),
        (["show", "0"], "ID"),
        (["show", "x"], "ID"),
        (["show", "99999999999999999999"], "ID"),
    ],
)
def test_what_cannot_be_meant(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = sqlite_place(tmp_path).here("dlq", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_mended_event_that_is_none_leaves_the_letter(desk: Desk, tmp_path: Path) -> None:
    trace, file = uuid4().hex, tmp_path / "mended.json"
    (letter,) = desk.kill(trace, "missing")
    contents = {
        b"{": "no JSON",
        b"[]": "no event",
        b'{"v":7}': "version 1",
        b'{"v":1,"type":"used"}': "Field required",
        None: "can't be read",
    }
    for content, said in contents.items():
        file.unlink(missing_ok=True)
        if content is not None:
            file.write_bytes(content)
        done = desk.dlq("replay", str(letter["id"]), "--file", str(file))
        assert (done.returncode, done.stdout) == (4, ""), content
        assert said in done.stderr
    assert letter in desk.letters()


def test_without_a_queue_there_is_nothing_to_look_at(tmp_path: Path) -> None:
    done = sqlite_place(tmp_path).here("dlq", "list")
    assert (done.returncode, done.stdout) == (5, "")
    assert "no queue" in done.stderr


@pytest.mark.usefixtures("nats")
def test_a_broker_that_is_away(tmp_path: Path) -> None:
    with own_nats(tmp_path) as broker:
        place = behind(sqlite_place(tmp_path), broker)
        assert json.loads(place.here("dlq", "list", "--json").stdout) == []
        broker.stop()
        done = place.here("dlq", "list", "--json")
        assert (done.returncode, done.stdout) == (5, "")
        assert "can't be reached" in done.stderr
        assert broker.password not in done.stdout + done.stderr
