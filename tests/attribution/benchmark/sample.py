"""The sample as a benchmark: its graph, which also holds the right verdict on each answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.data import ROOT

SAMPLE = ROOT / "examples" / "sample" / "assistant.json"
TRUTH = ROOT / "examples" / "truth.json"


def truth() -> dict[str, Any]:
    """What is known about the answers of the sample: failures and controls."""
    document: dict[str, Any] = json.loads(TRUTH.read_text("utf-8"))
    return document


def write_benchmark(
    folder: Path,
    name: str = "assistant.json",
    annotations: Any = None,
    controls: Any = None,
) -> Path:
    """A file of MemTraceBench's form; None is what the truth says."""
    known = truth()
    graph = json.loads(SAMPLE.read_text("utf-8"))
    graph["data"]["annotations"] = known["failures"] if annotations is None else annotations
    graph["data"]["controls"] = known["controls"] if controls is None else controls
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(json.dumps(graph), "utf-8")
    return path
