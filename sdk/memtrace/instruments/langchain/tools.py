"""Records calls of tools: the arguments come from a reply, and the result goes into the conversation."""

from __future__ import annotations

from typing import Any

from memtrace.calls import just_retrieved
from memtrace.instruments.conversations import running
from memtrace.instruments.frameworks.messages import content, is_message, leaves
from memtrace.instruments.frameworks.runs import Run
from memtrace.instruments.frameworks.values import given, same, sources
from memtrace.instruments.homes import Home
from memtrace.instruments.making import Making, learn, text_of
from memtrace.instruments.placing import contents_home
from memtrace.instruments.texts import inside_of, texts

ARGUMENT = "argument"
"""The category of a text that a tool was called with, and that no known value contains."""


def begin(run: Run) -> None:
    """Record the beginning of a call, and its arguments. A tool that the program runs by itself follows the reply."""
    if run.parent is None:
        run.root.place(contents=lambda: _home(run))
    read = []
    for key, leaf in list(leaves(run.inputs)):
        if not isinstance(leaf, str) or len(leaf) < 2:
            continue
        found = same(run, leaf)
        read += (
            [found] if found is not None else sources(run, leaf) or [given(run, leaf, key, "Other", category=ARGUMENT)]
        )
    run.making = making = Making(run.here, run.name, "Tool")
    for one in read:
        making.use(one, "arguments")


def _home(run: Run) -> Home:
    return contents_home([run.inputs], what=run.root.what, continued=lambda: running(run.name, run.inputs))


def end(run: Run, output: Any) -> None:
    """Record the result, a message or any value, and the end."""
    making = run.making
    if making is None:
        return
    text = content(output) if is_message(output) else output if isinstance(output, str) else text_of(output)
    if text:
        trace = run.here.trace
        retrieved = inside_of(trace, just_retrieved(trace), text)
        for one in retrieved or texts(trace).inside(text, run.asked, leave=list(making.step.inputs)):
            making.use(one, "found")
        made = making.make(text, f"{run.name} output", "Context")
        for value in (output, getattr(output, "content", None)):
            if value is not None:
                learn(run.here, value, made)
    making.end()
