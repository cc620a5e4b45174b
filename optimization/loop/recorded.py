"""Records a search as a trace: each version of a prompt is a variable, and each reflection an operation."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memtrace.kinds import MAX_ID_CHARACTERS


def write_events(folder: Path, said: Mapping[str, Any], path: Path) -> None:
    """Write a file of wire events for import; the same result always gives the same elements.

    Args:
        folder: the folder of the optimization; its name becomes the trace's name.
        said: the content of ``found.json``.
        path: the file to write.
    """
    path.write_text("".join(json.dumps(event) + "\n" for event in _events(folder, said)), "utf-8")


def trace_id(folder: Path) -> str:
    """The trace id of an optimization."""
    return f"optimization {folder.name} {_run(folder)['id']}"[:MAX_ID_CHARACTERS]


def _run(folder: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads((folder / "run.json").read_text("utf-8"))
    return found


def _events(folder: Path, said: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    trace = trace_id(folder)
    # All elements have the time of the run's beginning, so writing the events again changes nothing.
    common = {"v": 1, "trace": trace, "time": _run(folder)["began"]}

    def id_of(*parts: str) -> str:
        return hashlib.blake2b("\0".join((trace, *parts)).encode(), digest_size=16).hexdigest()

    accepted = said["gate"]["accepted"]
    about = {"accepted": accepted, "reasons": said["gate"]["reasons"]}
    yield {**common, "type": "trace", "name": f"optimization {folder.name}", "attributes": about}
    candidates = said["found"]["candidates"] if said["found"] is not None else []
    versions: dict[tuple[str, str], str] = {}
    for number, candidate in enumerate(candidates):
        parent = candidate["parent"]
        for name, text in candidate["prompts"].items():
            before = None if parent is None else versions.get((parent, name))
            if before is not None and candidate["changed"] != name:
                versions[candidate["id"], name] = before
                continue
            variable = versions[candidate["id"], name] = id_of("prompt", candidate["id"], name)
            operation = None
            if before is not None:
                operation = id_of("reflection", candidate["id"])
                yield {
                    **common,
                    "type": "operationStarted",
                    "operation": operation,
                    "name": "reflect",
                    "kind": "Update",
                }
                yield {**common, "type": "used", "operation": operation, "variable": before, "position": 0}
            shares = candidate["scores"].values()
            scores = {"candidate": number, "validation": sum(shares) / len(shares) if shares else None}
            is_chosen = candidate["prompts"] == said["after"]
            made = {
                **common, "type": "variable", "variable": variable, "name": name, "kind": "Prompt", "version": number,
                "value": text, "mediaType": "text/plain", "attributes": {**scores, "chosen": is_chosen},
            }  # fmt: skip
            yield made if operation is None else {**made, "operation": operation, "revisionOf": before}
            if operation is not None:
                derivation = id_of("derivation", candidate["id"], name)
                yield {
                    **common, "type": "derived", "derivation": derivation, "source": before, "target": variable,
                    "operation": operation, "kind": "Revision",
                }  # fmt: skip
                yield {**common, "type": "operationEnded", "operation": operation, "status": "ok"}
