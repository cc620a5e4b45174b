"""Real LangGraph and real mem0: two forks of a memory leave the original and each other as they were."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from tests.data import ROOT
from tests.environments import python
from tests.llm_server import Answer, Request, give, llm_server

_FACT = re.compile(r"I (?:have|keep)[^.\"\n]*\.")


ENVIRONMENTS = {"langgraph": "langchain", "mem0": "mem0-2.2.1"}
"""The name of each package's environment."""


def forked(what: str, folder: Path, **more: str) -> dict[str, Any]:
    """Run ``forks.py`` in the environment of a package, and return its result."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("MEMTRACE_")}
    own |= {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "sdk")]), "MEM0_TELEMETRY": "False", **more}
    own["MEM0_DIR"] = str(folder / "mem0")
    done = subprocess.run(
        [python(ENVIRONMENTS[what]), "-m", "tests.optimization.forks", what, folder],
        cwd=ROOT,
        env=own,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def memory(request: Request) -> Answer:
    """Replies with the facts in the last message, and with vectors of words."""
    if "embeddings" in request.path:
        texts = request.body["input"] if isinstance(request.body["input"], list) else [request.body["input"]]
        data = [{"object": "embedding", "index": n, "embedding": _vector(text)} for n, text in enumerate(texts)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return Answer(json.dumps({"object": "list", "model": "e", "data": data, "usage": usage}).encode())
    facts = dict.fromkeys(_FACT.findall(request.last.rpartition("New Messages")[2]))
    return give({"memory": [{"id": str(number), "text": fact} for number, fact in enumerate(facts)]})


def _vector(text: str) -> list[float]:
    vector = [0.0] * 32
    for word in re.findall(r"[a-z]+", text.lower()):
        vector[int(hashlib.sha256(word.encode()).hexdigest(), 16) % 32] += 1
    return vector


def test_forks_of_a_store_of_langgraph(tmp_path: Path) -> None:
    found = forked("langgraph", tmp_path)
    tea = "The tea is in the tin."
    assert found["said"] == f"{tea} | I have a dog called Bo."
    assert found["null"] == found["again"] == [[found["said"]], None, [], 0]
    assert found["forks"] == [
        [[f"{tea} | I have a cat called Mia."], None, []],
        [[f"{tea} | I have a fish called Bob."], None, []],
    ]
    assert found["untouched"]


def test_forks_of_a_memory_of_mem0(tmp_path: Path) -> None:
    with llm_server() as server:
        server.script(memory, repeat=True)
        found = forked("mem0", tmp_path, MEMTRACE_TEST_MODEL=server.url)
    tea = "I keep the tea in the tin."
    assert found["said"] == f"I have a dog called Bo. | {tea}"
    assert found["null"] == found["again"] == [[found["said"]], None, [], 0]
    assert found["forks"] == [
        [[f"I have a cat called Mia. | {tea}"], None, []],
        [[f"I have a fish called Bob. | {tea}"], None, []],
    ]
    assert found["untouched"]
