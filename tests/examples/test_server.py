"""The agents as anyone starts them: over HTTP into a server, where a wrong answer is recorded and explained."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from tests.data import ROOT
from tests.examples.agents import AGENTS, Agent
from tests.server.running import RunningServer

_FAILURES = """query($t: String!) { project { trace(reference: $t) {
  operations(first: 200) { nodes { status } }
  failures { nodes { question verdicts { errorType operation { name } } } }
} } }"""


def start(agent: Agent, *arguments: str, **settings: str) -> str:
    """Run an agent's command; what it prints."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("MEMTRACE_")}
    path = os.pathsep.join([str(ROOT), str(ROOT / "sdk")])
    done = subprocess.run(
        [sys.executable, "-m", agent.module, *arguments],
        env=own | {"PYTHONPATH": path} | settings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def recorded_server(server: RunningServer) -> RunningServer:
    """A server that has a trace of each agent, its wrong answer and the verdict on that."""
    said = {"MEMTRACE_ENDPOINT": server.url, "MEMTRACE_API_KEY": server.key("writer")}
    for agent in AGENTS:
        printed = start(agent, "--fault", agent.faults[-1].name, "--trace", agent.name, **said)
        assert "spooled=0, dropped=0, rejected=0" in printed
        assert "Failures recorded: 1" in printed
    done = server.place.here("attribute", "--all", project=server.project)
    assert done.returncode == 0, done.stderr
    return server


@pytest.mark.parametrize("agent", AGENTS, ids=str)
def test_a_fault_is_recorded_and_explained(recorded_server: RunningServer, agent: Agent) -> None:
    fault = agent.faults[-1]
    with recorded_server.client() as client:
        answer = client.post("/graphql", json={"query": _FAILURES, "variables": {"t": agent.name}}).json()
    trace: dict[str, Any] = answer["data"]["project"]["trace"]
    assert {one["status"] for one in trace["operations"]["nodes"]} == {"ok"}
    (failure,) = trace["failures"]["nodes"]
    (question,) = [one for session in agent.sessions for one in session.questions if one.name == fault.breaks]
    assert failure["question"] == question.text
    (verdict,) = failure["verdicts"]
    assert verdict["errorType"] == fault.error_type
    assert verdict["operation"]["name"] == fault.operation
