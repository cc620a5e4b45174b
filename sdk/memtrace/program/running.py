"""Runs a program for one user in a trace: gives it messages and asks it questions."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from contextlib import ExitStack
from contextvars import copy_context
from datetime import datetime
from pathlib import Path
from typing import Any

import memtrace
from memtrace import sink
from memtrace.context import scope
from memtrace.identity import Variable
from memtrace.instruments.texts import texts
from memtrace.program.loading import ProgramError, load, takes_time
from memtrace.program.outside import OutsideMemory
from memtrace.program.protocol import Message
from memtrace.raw_events import VARIABLE, RawEvent
from memtrace.replay.keeping import source_hash
from memtrace.told import tell
from memtrace.values import CONTAINERS, clean_text, own_copy, snapshot

_FLUSH_SECONDS = 60.0
_LONGEST_ANSWER = 2_000_000
_REPLIES = frozenset({"Response", "Answer"})
AGAIN = "memtrace.program.again:conversation"
"""The program of the trace, which runs the conversation again in a replay."""


class Running:
    """One user's program, and the trace that records it.

    Args:
        name: the program, as ``module:name``.
        runner: runs the program's coroutines.
        stack: ends the trace, if ``end`` does not.
    """

    def __init__(self, name: str, runner: asyncio.Runner, stack: ExitStack) -> None:
        self._name = name
        self._runner = runner
        self._stack = stack
        self._program: Any = None
        self._replies: dict[str, tuple[str, str]] = {}
        """Names and ids of replies since the last question, by text."""
        self._known: dict[str, Variable] = {}
        """Messages, questions and answers, by their ids in the data set."""
        self._memory: OutsideMemory | None = None

    def begin(
        self,
        user: str,
        trace: str,
        prompts: Mapping[str, str],
        folder: Path,
        instruments: list[str],
        again: Mapping[str, Any] | None = None,
        saved: Path | None = None,
    ) -> dict[str, str]:
        """Make the program, and begin its trace; returns the program's prompts.

        Args:
            user: the owner of the memory.
            trace: the id of the trace.
            prompts: texts in place of the program's own, by name.
            folder: an empty folder for the program's files.
            instruments: the recorder's instruments to switch on; ``all`` for all instruments.
            again: more arguments of ``again.conversation`` for a replay. None keeps no data for replays.
            saved: the folder for a memory outside of the program, before the first message; a memory that is saved
                there already is restored. None saves and restores only for replays.

        Raises:
            ProgramError: the program does not exist, or is no program.
        """
        factory = load(self._name)
        self._listen()
        if instruments:
            memtrace.instrument(*([] if instruments == ["all"] else instruments))
        is_kept = again is not None and getattr(factory, "is_replayable", True)
        whole = {"program": self._name, "user": user, "trace": trace, "prompts": dict(prompts),
                 "instruments": instruments, "source": source_hash(self._name.partition(":")[0]),
                 **(again or {})}  # fmt: skip
        self._stack.enter_context(
            memtrace.trace(
                trace,
                id=trace,
                attributes={"user": user, "program": self._name},
                program=AGAIN if is_kept else None,
                input=whole if is_kept else None,
            )
        )
        given = {key: memtrace.variable(text, kind="Prompt", name=key) for key, text in prompts.items()}
        self._program = self._made(factory, user, given, folder)
        self._memory = OutsideMemory.of(self._name, self._program, self._result)
        if self._memory is not None:
            self._memory.begin(saved)
        usual = self._own_prompts(self._program)
        self._know_prompts(usual)
        return usual

    def _know_prompts(self, prompts: Mapping[str, str]) -> None:
        """Record the prompts, so that the program's own text objects stand for them."""
        here = scope.get()
        for key, text in prompts.items():
            if here is not None and memtrace.find(text) is None:
                known = memtrace.find(memtrace.variable(text, kind="Prompt", name=key))
                if known is not None:
                    here.trace.identities.bind(text, known)

    def _listen(self) -> None:
        """Note the texts of replies: a package may return an equal text as another object."""
        send = sink.send

        def heard(events: list[RawEvent]) -> None:
            for event in events:
                if event and event[0] is VARIABLE and event[8] in _REPLIES:
                    self._replies[event[4]] = event[7], event[6]
            send(events)

        sink.set_sink(heard, wants_whole=sink.is_whole)

    def _made_with(self, answer: str) -> Variable | None:
        """The newest reply with an answer's text, for an answer whose object is not known."""
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

    def add(self, session: str, messages: list[dict[str, Any]]) -> None:
        """Give the program the messages of one session."""
        with memtrace.session(session, id=session, category="construction"):
            said = []
            for one in messages:
                time = None if one["time"] is None else datetime.fromisoformat(one["time"])
                about = {"speaker": one["speaker"], **({} if time is None else {"time": one["time"]})}
                text = memtrace.variable(one["text"], kind="Message", name=one["id"], attributes=about)
                self._know(one["id"], text, one["id"])
                self._tell(one["id"], text)
                said.append(Message(one["id"], one["speaker"], text, time, session))
            self._result(self._program.add(said))

    def _tell(self, id: str, text: str) -> None:  # noqa: A002 (the field's own word)
        """Let the recorder recognise a message that the program writes into a longer text."""
        here = scope.get()
        if here is not None and id in self._known:
            tell(here.trace, text, self._known[id])
            texts(here.trace).add(text, self._known[id])

    def ask(self, id: str, question: str, time: str | None = None) -> str:  # noqa: A002 (the field's own word)
        """Ask the program a question; returns the answer as text.

        Args:
            id: the id of the question.
            question: the question.
            time: when the question is asked, in ISO 8601; given to programs whose ``answer`` has an argument ``time``.

        Raises:
            ProgramError: the program gave no answer, or an answer that is too long.
        """
        with memtrace.session("answers", id=f"answer {id}", category="answers"):
            self._replies.clear()
            about = None if time is None else {"time": time}
            asked = memtrace.variable(question, kind="Query", name=id, attributes=about)
            self._know(id, asked, id)
            answer = self._program.answer
            dated = {} if time is None or not takes_time(answer) else {"time": datetime.fromisoformat(time)}
            return self._recorded(id, asked, self._result(answer(asked, **dated)))

    def _recorded(self, id: str, asked: str, answer: Any) -> str:  # noqa: A002 (the field's own word)
        """Make sure that the answer is a variable of kind Answer; returns the answer as text."""
        text = self._text_of(answer)
        found = memtrace.find(answer), self._made_with(snapshot(answer)[0]), self._made_with(text)
        made = [one for one in found if one is not None]
        known = next((one for one in made if one.kind == "Answer"), made[0] if made else None)
        if known is not None and known.kind == "Answer":
            self._known[f"answer {id}"] = known
            return text
        name = f"answer to {id}"
        if known is None:
            # A program that records no operation of its own still has its answer in the graph.
            with memtrace.operation("answer", kind="Generation") as step:
                step.input(asked, "question", kind="Query")
                given = step.output(text, name=name, kind="Answer")
        else:
            # A model's reply, which a package recorded, becomes the answer.
            with memtrace.operation("give the answer", kind="Other") as step:
                step.input(known, "reply")
                given = step.output(own_copy(text), name=name, kind="Answer")
        self._know(f"answer {id}", given, name)
        return text

    def _text_of(self, answer: Any) -> str:
        """An answer of any type as text: the content of a message object, the JSON of a list or mapping."""
        if answer is None:
            raise ProgramError(f"{self._name}: answer() gave None: does it return the answer?")
        content = getattr(answer, "content", None)
        if isinstance(answer, str) or not isinstance(content, str):
            content = snapshot(answer)[0] if isinstance(answer, (str, *CONTAINERS)) else str(answer)
        if len(content) > _LONGEST_ANSWER:
            raise ProgramError(
                f"{self._name}: answer() gave {len(content):,} characters; the most are {_LONGEST_ANSWER:,}"
            )
        return clean_text(content)

    def judge(
        self,
        id: str,  # noqa: A002 (the field's own word)
        right: bool,
        gold: list[str],
        evidence: list[str],
        comment: str | None,
    ) -> None:
        """Record whether an answer was right."""
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
        memtrace.flush(_FLUSH_SECONDS)  # the results so far can then be read from the file

    def end(self) -> dict[str, Any]:
        """End the trace, and send all events; returns the numbers of sent and lost events, and faults."""
        self._stack.close()
        self.leave()
        found = memtrace.flush(_FLUSH_SECONDS)
        return {"events": found.sent, "lost": found.dropped + found.rejected, "faults": memtrace.fault_counts()}

    def leave(self) -> None:
        """Restore a memory outside of the program as it was before the first message."""
        if self._memory is not None:
            self._memory.put_back()

    def _know(self, id: str, value: str, name: str) -> None:  # noqa: A002 (the field's own word)
        """Note the newest variable with a name: a text of one character has no identity."""
        found = memtrace.find(value) or memtrace.named(name)
        if found is not None:
            self._known[id] = found

    def _result(self, value: Any) -> Any:
        if inspect.isawaitable(value):

            async def awaited() -> Any:
                return await value

            return self._runner.run(awaited(), context=copy_context())
        return value
