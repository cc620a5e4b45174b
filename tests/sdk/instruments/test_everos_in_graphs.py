"""EverMind's clients in nodes of LangGraph and runnables of LangChain: what is recorded is where the node is."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sdk.instruments import scripted_everos, scripted_openai
from tests.sdk.instruments.running import Run, check_whole, run
from tests.sdk.instruments.unchanged import EVERYTHING, complaints, considered, past

PACKAGES = {"oldest": "evermemos", "newer": "everos", "cloud": "everos_cloud"}
USERS = [f"user{number}" for number in range(8)]
OF_GRAPHS = {**{f"{name}-ann": package for name, package in PACKAGES.items()}, **dict.fromkeys(USERS, "everos")}
OF_CHAINS = {f"{name}-ben": package for name, package in PACKAGES.items()}


def said(user: str) -> str:
    return f"I am {user}, and I live in the town of {user}."


def asked(user: str) -> str:
    return f"In which town does {user} live?"


def unit(user: str) -> str:
    """The memory unit that the server makes of the message."""
    return f"{user} said: {said(user)}"


def script(body: dict[str, Any]) -> str:
    system, question = (str(message["content"]) for message in body["messages"])
    known = [line for line in system.splitlines() if line.startswith("- ")]
    return f"{len(known)} known for: {question}"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    """Both runs have sent the same requests."""
    folder = tmp_path_factory.mktemp("graphs")
    made, paths = [], []
    for instrument in (None, EVERYTHING):
        with scripted_everos.running() as server, scripted_openai.running(script) as model:
            more = {"EVEROS_URL": server.url, "OPENAI_API_BASE": model.url, "LANGSMITH_TRACING": "false"}
            options: dict[str, Any] = {"model": model.url, "folder": folder / str(instrument), "more": more}
            made.append(run("graph_everos.py", "langchain", instrument=instrument, **options))
            paths.append(sorted(server.paths))
    assert paths[0] == paths[1]
    return made[0], made[1]


def of_user(recorded: Run, user: str, package: str) -> Run:
    """The events of one user, which all lie in the memory's trace."""
    (trace,) = [one["trace"] for one in recorded.of("trace") if one.get("name") == f"{package}: user_id={user}"]
    return Run(None, [event for event in recorded.events if event["trace"] == trace])


def test_the_program_notices_nothing(runs: tuple[Run, Run]) -> None:
    without, recorded = runs
    assert recorded.said == without.said
    assert recorded.said["later"] == [[f"0 known for: {said(one)}", f"1 known for: {asked(one)}"] for one in USERS]
    assert not complaints(without, recorded)
    check_whole(recorded)


def test_what_a_run_does_is_in_the_trace_of_its_memory(runs: tuple[Run, Run]) -> None:
    _, recorded = runs
    assert {event["name"] for event in recorded.of("trace")} == {
        f"{package}: user_id={user}" for user, package in (OF_GRAPHS | OF_CHAINS).items()
    }
    for user, package in (OF_GRAPHS | OF_CHAINS).items():
        for event in of_user(recorded, user, package).variables():
            others = [one for one in OF_GRAPHS | OF_CHAINS if one != user and one in str(event["value"])]
            assert not others, event


@pytest.mark.parametrize("user", OF_GRAPHS)
def test_each_call_is_in_its_node(runs: tuple[Run, Run], user: str) -> None:
    package = OF_GRAPHS[user]
    operations = {event["operation"]: event for event in of_user(runs[1], user, package).of("operationStarted")}
    calls = [
        event for event in operations.values() if event["name"] in {"ChatOpenAI", f"{package}.search", f"{package}.add"}
    ]
    around = [(operations[event["parent"]]["name"], event["name"]) for event in calls]
    turn = [("recall", f"{package}.search"), ("answer", "ChatOpenAI"), ("remember", f"{package}.add")]
    assert around == turn * 2
    nodes = [event["name"] for event in operations.values() if "parent" not in event]
    assert nodes == ["recall", "answer", "remember", "give the answer"] * 2


@pytest.mark.parametrize("user", [*OF_GRAPHS, *OF_CHAINS])
def test_the_past_of_an_answer_is_its_question_and_what_was_found(runs: tuple[Run, Run], user: str) -> None:
    recorded = of_user(runs[1], user, (OF_GRAPHS | OF_CHAINS)[user])
    reply = recorded.only(f"1 known for: {asked(user)}", "Response")
    assert past(recorded, reply, "Query") == {asked(user)}
    assert past(recorded, reply, "MemoryUnit") == {unit(user)}
    assert [(text, returned) for text, _, returned in considered(recorded, asked(user))] == [(unit(user), True)]


@pytest.mark.parametrize("user", [*OF_GRAPHS, *OF_CHAINS])
def test_what_is_added_is_what_was_said(runs: tuple[Run, Run], user: str) -> None:
    recorded = of_user(runs[1], user, (OF_GRAPHS | OF_CHAINS)[user])
    added = {event["operation"] for event in recorded.of("operationStarted") if event["name"].endswith(".add")}
    used = {event["variable"] for event in recorded.of("used") if event["operation"] in added}
    by_id = {event["variable"]: event for event in recorded.variables()}
    expected = {said(user), asked(user)} if user in OF_GRAPHS else {said(user)}
    assert {by_id[one]["value"] for one in used} == expected
