"""Child in an environment of its own: records the same work with smartcomment and prints what that cost as JSON.

Nothing of the project may be imported here: it is not installed there.
Run: ``python recording_smartcomment.py calls|buffer COUNT``
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from pathlib import Path

from smartcomment import (  # type: ignore[import-not-found,unused-ignore]
    comment_fn,
    comment_graph,
    comment_mutation,
    comment_session,
    comment_variable,
)

QUESTION = "What is the name of the user's dog?"
CONTEXT = "The user has a dog, which is called Bo. " * 10
BURST = 200
MESSAGE = "x" * 85
numbers = iter(range(10**9))


@comment_fn(op_name="answer", category="generation")  # type: ignore[untyped-decorator,unused-ignore]
def answer(question: str, context: str) -> str:
    """The operation that is recorded: two inputs, one output."""
    return f"answer {next(numbers)} to {question}"


def calls(count: int) -> dict[str, float]:
    """Seconds that a call takes; all stays in memory."""
    bursts = []
    with comment_graph() as graph, comment_session():
        question = comment_variable(QUESTION, category="query")
        context = comment_variable(CONTEXT, category="context")
        for _ in range(0, count, BURST):
            began = time.perf_counter()
            for _ in range(BURST):
                answer(question, context)
            bursts.append((time.perf_counter() - began) / BURST)
        assert (graph.op_count, graph.edge_count) == (count, 2 * count)
    return {"wall": statistics.median(bursts)}


def buffer(count: int) -> dict[str, float]:
    """Seconds of a list that is changed some times, each time by a message."""
    with comment_graph() as graph, comment_session():
        messages: list[str] = []
        began = time.perf_counter()
        for number in range(count):
            with comment_mutation(target=messages, id_strategy=lambda value: "buffer"):
                messages.append(f"message {number} {MESSAGE}")
        seconds = time.perf_counter() - began
        size = sum(len(node.value) for node in graph.get_all_nodes())
    return {"seconds": seconds, "bytes": size, "rss": _peak()}


def _peak() -> float:
    """The most memory that this process has used, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # the system counts memory of the parent in that of a child
        line = next(line for line in status.read_text("ascii").splitlines() if line.startswith("VmHWM:"))
        return float(line.split()[1]) * 1024
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(used if sys.platform == "darwin" else used * 1024)


if __name__ == "__main__":
    print(json.dumps({"calls": calls, "buffer": buffer}[sys.argv[1]](int(sys.argv[2]))))
