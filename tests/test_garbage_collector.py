"""The garbage collector of a process that serves never looks through so much at once that all requests wait for it."""

from __future__ import annotations

import json
import subprocess
import sys

_PROGRAM = """
import gc, json, sys
from store.runtime.garbage_collector import collect_rarely, collector_paused, full_looks_put_off

if "serves" in sys.argv:
    collect_rarely()
looked = {0: [], 1: [], 2: []}

def note(phase, info):
    if phase == "start":
        found = info["generation"]
        looked[found].append(sum(len(gc.get_objects(generation)) for generation in range(found + 1)))

gc.callbacks.append(note)
kept = []
if "large" in sys.argv:
    with full_looks_put_off(), full_looks_put_off():
        kept.extend([] for _ in range(4_000_000))
        looked["during"] = looked[2].copy()
    kept.extend([] for _ in range(100_000))
with collector_paused("stays" in sys.argv):
    for _ in range(400_000):
        kept.append([])
kept.extend([] for _ in range(100))
print(json.dumps(looked))
"""


def looked(*arguments: str) -> dict[str, list[int]]:
    """How many objects each look of the collector went through, by generation, while 400,000 came that all live."""
    done = subprocess.run([sys.executable, "-c", _PROGRAM, *arguments], capture_output=True, text=True, check=True)
    found: dict[str, list[int]] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_a_server_looks_through_a_little_at_a_time() -> None:
    found = looked("serves")
    assert found["0"]
    assert max(found["0"]) < 11_000
    assert found["1"]
    assert max(found["1"]) < 51_000
    assert found["2"] == []


def test_other_commands_look_when_their_work_is_done() -> None:
    found = looked()
    assert len(found["0"]) + len(found["1"]) + len(found["2"]) <= 2


def test_what_stays_is_not_looked_at_after_a_pause() -> None:
    found = looked("stays")
    assert max([0, *found["0"], *found["1"], *found["2"]]) < 10_000


def test_full_looks_wait_for_the_end_of_a_large_request() -> None:
    found = looked("serves", "large")
    assert found["during"] == []
    assert len(found["2"]) == 1
