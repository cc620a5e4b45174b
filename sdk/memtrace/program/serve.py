"""The process in which a program runs: it reads what to do as lines of JSON, and writes a line for each.

Standard output belongs to these lines, so what the program prints goes to standard error. When its input ends, so does
the process.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from contextvars import copy_context
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from pydantic_core import from_json, to_json

import memtrace
from memtrace import sink
from memtrace.context import scope
from memtrace.exporters.file import FileExporter
from memtrace.identity import Variable
from memtrace.program.loading import ProgramError, load
from memtrace.program.protocol import Message
from memtrace.raw_events import VARIABLE, RawEvent
from memtrace.values import own_copy

_FLUSH_SECONDS = 60.0
_MOST_FRAMES = 6
_REPLIES = frozenset({"Response", "Answer"})


def main() -> None:
    """Run the program that the first argument names until the input ends."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m memtrace.program MODULE:NAME")
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    with asyncio.Runner() as runner, ExitStack() as stack:
        run = _Run(sys.argv[1], runner, stack)
        for line in sys.stdin.buffer:
            _answer(answers, run.do(from_json(line)))


def _answer(to: BinaryIO, value: Mapping[str, Any]) -> None:
    to.write(to_json(value, inf_nan_mode="strings") + b"\n")


class _Run:
    """One user's memory, and the trace in which it is recorded."""

    def __init__(self, name: str, runner: asyncio.Runner, stack: ExitStack) -> None:
        self._name = name
        self._runner = runner
        self._stack = stack
        self._program: Any = None
        self._replies: dict[str, tuple[str, str]] = {}
        """Names and ids of replies since the last question, by text."""
        self._known: dict[str, Variable] = {}
        """Messages, questions and answers by what the data set calls them."""

    def do(self, said: dict[str, Any]) -> dict[str, Any]:
        """Do what one line says; an error of the program is the answer."""
        acts: dict[str, Callable[..., dict[str, Any]]] = {
            "start": self._start,
            "add": self._add,
            "ask": self._ask,
            "judge": self._judge,
            "end": self._end,
        }
        try:
            return acts[said.pop("do")](**said)
        except ProgramError as error:
            return {"error": str(error)}
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}", "trace": _trace_of(error)}

    def _start(
        self, user: str, trace: str, name: str, prompts: dict[str, str], folder: str, events: str, instrument: list[str]
    ) -> dict[str, Any]:
        factory = load(self._name)
        memtrace.configure(exporter=FileExporter(Path(events)))
        self._listen()
        if instrument:
            memtrace.instrument(*([] if instrument == ["all"] else instrument))
        self._stack.enter_context(memtrace.trace(name, id=trace, attributes={"user": user, "program": self._name}))
        given = {key: memtrace.variable(text, kind="Prompt", name=key) for key, text in prompts.items()}
        self._program = self._made(factory, user, given, Path(folder))
        usual = self._own_prompts(self._program)
        self._know_prompts(usual)
        return {"prompts": usual}

    def _know_prompts(self, prompts: Mapping[str, str]) -> None:
        """Record the prompts, and know them again by the very texts that the program gave."""
        here = scope.get()
        for key, text in prompts.items():
            if here is not None and memtrace.find(text) is None:
                known = memtrace.find(memtrace.variable(text, kind="Prompt", name=key))
                if known is not None:
                    here.trace.identities.bind(text, known)

    def _listen(self) -> None:
        """Note what models and operations reply: their texts may come back from a package as other objects."""
        send = sink.send

        def heard(events: list[RawEvent]) -> None:
            for event in events:
                if event and event[0] is VARIABLE and event[8] in _REPLIES:
                    self._replies[event[4]] = event[7], event[6]
            send(events)

        sink.set_sink(heard, wants_whole=sink.is_whole)

    def _made_with(self, answer: str) -> Variable | None:
        """The newest reply to the question that has this text, where the very object is not known."""
        here = scope.get()
        if here is None or answer not in self._replies:
            return None
        name, id_ = self._replies[answer]
        found = here.trace.identities.named(name)
        return found if found is not None and found.id == id_ else None

    def _made(self, factory: Any, user: str, prompts: Mapping[str, str], folder: Path) -> Any:
        made = self._result(factory(user=user, prompts=prompts, folder=folder))
        for method in ("prompts", "add", "answer"):
            if not callable(getattr(made, method, None)):
                raise ProgramError(f"{self._name} made a {type(made).__name__}, which has no method {method}()")
        return made

    def _own_prompts(self, program: Any) -> dict[str, str]:
        found = self._result(program.prompts())
        if not isinstance(found, Mapping) or not all(
            isinstance(key, str) and isinstance(text, str) for key, text in found.items()
        ):
            raise ProgramError(f"{self._name}: prompts() must give texts by name")
        return dict(found)

    def _add(self, session: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
        with memtrace.session(session, id=session, category="construction"):
            said = []
            for one in messages:
                time = None if one["time"] is None else datetime.fromisoformat(one["time"])
                about = {"speaker": one["speaker"], **({} if time is None else {"time": one["time"]})}
                text = memtrace.variable(one["text"], kind="Message", name=one["id"], attributes=about)
                self._know(one["id"], text)
                said.append(Message(one["id"], one["speaker"], text, time, session))
            self._result(self._program.add(said))
        return {}

    def _ask(self, id: str, question: str) -> dict[str, Any]:  # noqa: A002 (the field's own word)
        with memtrace.session("answers", id=f"answer {id}", category="answers"):
            self._replies.clear()
            asked = memtrace.variable(question, kind="Query", name=id)
            self._know(id, asked)
            answer = self._result(self._program.answer(asked))
            if not isinstance(answer, str):
                raise ProgramError(f"{self._name}: answer() must give a text, not a {type(answer).__name__}")
            known = memtrace.find(answer) or self._made_with(answer)
            if known is None:
                # A program that records no operation of its own still has its answer in the graph.
                with memtrace.operation("answer", kind="Generation") as step:
                    step.input(asked, "question", kind="Query")
                    answer = step.output(answer, name=f"answer to {id}", kind="Answer")
            elif known.kind != "Answer":
                # A model's reply, which a package recorded, becomes the answer by being given out.
                with memtrace.operation("give the answer", kind="Other") as step:
                    step.input(known, "reply")
                    answer = step.output(own_copy(answer), name=f"answer to {id}", kind="Answer")
            self._know(f"answer {id}", answer)
        return {"answer": answer}

    def _judge(
        self,
        id: str,  # noqa: A002 (the field's own word)
        right: bool,
        gold: list[str],
        evidence: list[str],
        comment: str | None,
    ) -> dict[str, Any]:
        answer = self._known.get(f"answer {id}")
        if answer is None:
            raise ProgramError(f"the question {id!r} was not asked")
        memtrace.feedback(
            answer,
            gold=gold,
            evidence=[self._known[one] for one in evidence if one in self._known],
            comment=comment,
            question=self._known.get(id),
            right=right,
        )
        return {}

    def _end(self) -> dict[str, Any]:
        self._stack.close()
        found = memtrace.flush(_FLUSH_SECONDS)
        return {"events": found.sent, "lost": found.dropped + found.rejected, "faults": memtrace.fault_counts()}

    def _know(self, id: str, value: str) -> None:  # noqa: A002 (the field's own word)
        found = memtrace.find(value)
        if found is not None:
            self._known[id] = found

    def _result(self, value: Any) -> Any:
        if inspect.isawaitable(value):

            async def awaited() -> Any:
                return await value

            return self._runner.run(awaited(), context=copy_context())
        return value


def _trace_of(error: BaseException) -> list[str]:
    """The last lines of code that the error came through."""
    frames = traceback.extract_tb(error.__traceback__)[-_MOST_FRAMES:]
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
