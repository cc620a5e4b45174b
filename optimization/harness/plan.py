"""The plan of a run, and its results."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from optimization.harness.datasets.model import Conversation, Dataset, Message, Question, Session
from optimization.harness.judging import Judge, Judgement

Stage = Literal["construction", "answers", "judging", "import"]
Tell = Callable[[Stage, str, int, int], None]
"""Called with the stage, the user, and how much of the stage is done and exists."""


def openai() -> dict[str, str]:
    """The default model server of programs: OPENAI_BASE_URL of this process, or OpenAI's server."""
    return {"OPENAI_BASE_URL": os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"}


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a run.

    Attributes:
        calls: largest number of live model calls; None means no limit.
        cost: once this amount is spent, no further call is made; needs ``prices``.
        prices: price of a million tokens, by ``input`` and ``output``.
        seconds: time limit for the program's start, for adding a session, and for answering a question.
        parallel: number of users at a time, each in a process of its own.
    """

    calls: int | None = None
    cost: float | None = None
    prices: Mapping[str, float] | None = None
    seconds: float = 600.0
    parallel: int = 4


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a run.

    Attributes:
        program: ``module:name``.
        dataset: the conversations.
        judge: judges the answers.
        folder: the folder of the run.
        prompts: texts that replace the program's own prompts, by name.
        users: the users whose conversations are run; None means all.
        python: the interpreter of the program's environment.
        directory: working directory of the program.
        instruments: the recorder's instruments to switch on; ``all`` for all instruments.
        models: base URLs of model servers, by the environment variable from which the program takes the URL. The
            program gets the URL of a proxy instead, which keeps the replies.
        replies: the folder of kept replies; the default is in the folder of the run.
        is_kept: whether to keep the data on this machine that a replay of the conversations needs.
        limits: limits of time and cost.
    """

    program: str
    dataset: Dataset
    judge: Judge
    folder: Path
    prompts: Mapping[str, str] = field(default_factory=dict)
    users: Sequence[str] | None = None
    python: str = sys.executable
    directory: Path = field(default_factory=Path.cwd)
    instruments: Sequence[str] = ()
    models: Mapping[str, str] = field(default_factory=openai)
    replies: Path | None = None
    is_kept: bool = True
    limits: Limits = field(default_factory=Limits)

    def fingerprint(self) -> str:
        """A hash of the plan; a run can only be continued with the same hash."""
        said = [self.program, self.judge.name, sorted(self.prompts.items()), _digest(self.dataset.conversations)]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the program, judged."""

    question: Question
    text: str
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class FailedQuestion:
    """A question without a judged answer.

    Attributes:
        question: the question.
        error: why the program gave no answer, or the judge no judgement.
        text: the answer, if only the judge failed.
    """

    question: Question
    error: str
    text: str | None = None


@dataclass(frozen=True, slots=True)
class UserRun:
    """The result of one conversation.

    Attributes:
        user: the user of the conversation.
        trace_id: the recorder's id of the trace.
        answers: the judged answers, in the order of the questions; a conversation that failed has the answers before.
        error: why the conversation could not go on; None without an error.
        calls: number of model replies that the program got, including kept replies.
        tokens: number of tokens of these replies.
        failed: the questions that failed, in order.
    """

    user: str
    trace_id: str
    answers: tuple[Answer, ...] = ()
    error: str | None = None
    calls: int = 0
    tokens: int = 0
    failed: tuple[FailedQuestion, ...] = ()

    @property
    def problem(self) -> str | None:
        """Why the conversation is not finished; None if it is."""
        return self.error or (self.failed[0].error if self.failed else None)


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The result of a run.

    Attributes:
        users: in the order of the data set.
        calls: number of live model calls.
        tokens: number of tokens of the live calls.
        cost: cost of the live calls; None without prices.
    """

    users: tuple[UserRun, ...]
    calls: int
    tokens: int
    cost: float | None

    @property
    def answers(self) -> list[Answer]:
        """The answers of all users."""
        return [answer for one in self.users for answer in one.answers]


@dataclass(frozen=True, slots=True)
class Addition:
    """Messages of one session that are added to the program's memory at once."""

    session: Session
    messages: tuple[Message, ...]

    def as_json(self) -> dict[str, Any]:
        """The parameters of the command ``add``."""
        messages = [
            {
                "id": one.id,
                "speaker": one.speaker,
                "text": one.text,
                "time": None if one.time is None else one.time.isoformat(),
            }
            for one in self.messages
        ]
        return {"session": self.session.id, "messages": messages}


def asking(question: Question) -> dict[str, Any]:
    """The parameters of the command ``ask``."""
    dated = {} if question.time is None else {"time": question.time.isoformat()}
    return {"id": question.id, "question": question.text, **dated}


def script(conversation: Conversation) -> list[Addition | Question]:
    """The steps of a conversation: additions of messages, and each question as early as it may be asked."""
    waiting: dict[str | None, list[Question]] = {}
    for question in conversation.questions:
        waiting.setdefault(question.after, []).append(question)
    acts: list[Addition | Question] = []
    for session in conversation.sessions:
        begun: list[Message] = []
        for message in session.messages:
            begun.append(message)
            if message.id in waiting:
                acts += [Addition(session, tuple(begun)), *waiting[message.id]]
                begun = []
        if begun:
            acts.append(Addition(session, tuple(begun)))
    return [*acts, *waiting.get(None, [])]


def _digest(conversations: Sequence[Conversation]) -> str:
    state = hashlib.sha256()
    for conversation in conversations:
        state.update(repr(conversation).encode("utf-8", "surrogatepass"))
    return state.hexdigest()
