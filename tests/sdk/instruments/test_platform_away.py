"""The platform is away while programs run: the programs' results stay the same, and the events are sent later."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.sdk import platform
from tests.sdk.instruments import scripted_openai
from tests.sdk.instruments.mem0_model import model
from tests.sdk.instruments.running import Run, check_whole, run
from tests.sdk.instruments.test_langchain import CONTEXTS, script
from tests.server.forwarder import Forwarder


@pytest.mark.parametrize(
    ("application", "environment", "arguments", "says", "operation"),
    [
        pytest.param("mem0_story.py", name, ("story",), model(), "mem0 add", marks=pytest.mark.full, id=name)
        for name in ("mem0-2.2.1", "mem0-1.0.11", "mem0-1.0.0")
    ]
    + [
        pytest.param("langchain_rag.py", name, (), script, "ChatOpenAI", marks=pytest.mark.full, id=name)
        for name in ("langchain", "langchain-0.3")
    ],
)
def test_a_whole_run_while_the_platform_is_away(
    application: str,
    environment: str,
    arguments: tuple[str, ...],
    says: Callable[[dict[str, Any]], Any],
    operation: str,
    tmp_path: Path,
) -> None:
    spool = tmp_path / "spool"
    with scripted_openai.running(says) as server, platform.running() as receiver, Forwarder(receiver.endpoint) as way:
        more = {"OPENAI_API_BASE": server.url, "LANGSMITH_TRACING": "false", "MEMTRACE_SPOOL": str(spool)}
        more |= {"MEMTRACE_ENDPOINT": f"http://127.0.0.1:{way.port}"}
        options: dict[str, Any] = {"model": server.url, "arguments": arguments, "more": more}
        without = run(application, environment, folder=tmp_path / "without", instrument=None, **options)
        way.close()
        away = run(application, environment, folder=tmp_path / "away", **options)
        assert not receiver.events
        assert any(path.stat().st_size for path in spool.rglob("*") if path.is_file())
        way.open()
        back = run(application, environment, folder=tmp_path / "back", **options)
        events = list(receiver.events)
    assert away.said == back.said == without.said
    recorded = Run(None, events, back.errors)
    check_whole(recorded)
    names = [name for name, _ in recorded.operations()]
    assert names.count(operation) == 2 * (len(CONTEXTS) if operation == "ChatOpenAI" else 5)
