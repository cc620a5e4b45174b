"""The command line of the agents: run an agent, and show the past of its answers."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import memtrace
from memtrace.exporters.memory import MemoryExporter

from .complain import complain
from .talk import NO_FAULT, Fault, Reply

Run = Callable[[Fault, str | None], list[Reply]]


def main(name: str, run: Run, faults: Sequence[Fault]) -> None:
    """Run an agent and print its answers.

    Without ``MEMTRACE_ENDPOINT`` the events stay in this process; otherwise events and feedback on wrong answers go to
    the server.

    Args:
        name: the package of the agent.
        run: records the agent, with a fault, as the trace with an id.
        faults: those that can be chosen.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {name}")
    parser.add_argument("--fault", choices=[fault.name for fault in faults], help="what goes wrong")
    parser.add_argument("--trace", help="id of the trace on the server")
    parser.add_argument("--mermaid", type=Path, metavar="FILE", help="write the graph as a Mermaid flowchart")
    options = parser.parse_args()
    fault = next((fault for fault in faults if fault.name == options.fault), NO_FAULT)
    trace = options.trace or f"{name.rpartition('.')[2]}-{fault.name}"
    endpoint = os.environ.get("MEMTRACE_ENDPOINT")
    kept = MemoryExporter()
    if not endpoint:
        memtrace.configure(exporter=kept)
    print(f"Fault: {fault.says}.")
    replies = run(fault, trace)
    for reply in replies:
        verdict = "right" if reply.is_right else f"WRONG, it is: {reply.question.gold}"
        print(f"\n{reply.question.text}\n  {reply.text}  ({verdict})")
        if not endpoint:
            made_from = ", ".join(_messages(kept, reply)) or "no message"
            print(f"  made from {made_from}; told in {', '.join(reply.question.evidence)}")
    if options.mermaid is not None and not endpoint:
        options.mermaid.write_text(kept.to_mermaid(), "utf-8")
    if endpoint:
        print(f"\nRecorded as the trace {trace}: {memtrace.flush(20)}")
        wrong = complain(endpoint, os.environ.get("MEMTRACE_API_KEY", ""), trace, replies)
        print(f"Failures recorded: {wrong}")


def _messages(kept: MemoryExporter, reply: Reply) -> list[str]:
    """The messages in the past of an answer, by the query that is there too."""
    for answer in kept.of("variable"):
        if answer["kind"] == "Answer":
            past = kept.closure(answer["variable"])
            if any(one["kind"] == "Query" and one["name"] == reply.question.name for one in past):
                return sorted(one["name"] for one in past if one["kind"] == "Message")
    return []
