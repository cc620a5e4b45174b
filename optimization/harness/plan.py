"""What a run is to do, and what came of it."""

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
"""Is called with the stage, the user, how much of it is done, and how much there is."""


def openai() -> dict[str, str]:
    """The server that programs ask where nothing else is said: that of this process's environment, or OpenAI's."""
    return {"OPENAI_BASE_URL": os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"}


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may cost.

    Attributes:
        calls: live calls of models, at most; None means no limit.
        cost: once this is spent, no further call is made; needs ``prices``.
        prices: of a million tokens, by ``input`` and ``output``.
        seconds: how long the program may take to begin, to add one session, or to answer one question.
        parallel: number of users at a time, each in a process of its own.
    """

    calls: int | None = None
    cost: float | None = None
    prices: Mapping[str, float] | None = None
    seconds: float = 600.0
    parallel: int = 4


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run does.

    Attributes:
        program: ``module:name``.
        dataset: the conversations.
        judge: says whether answers are right.
        folder: the folder of the run.
        prompts: texts in place of the program's own, by name.
        users: the users whose conversations are run; None means all.
        python: the interpreter of the program's environment.
        directory: the folder in which the program runs.
        instruments: the recorder's instruments that are switched on; ``all`` for all of them.
        models: base URLs of model servers by the environment variable in which the program looks for them. The program
            is given another address, where replies are kept.
        replies: the folder of kept replies; the default is in the folder of the run.
        is_kept: whether this machine keeps what a replay of the conversations needs.
        limits: what it may cost.
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
        """A hash of all that must be the same for a run to be continued."""
        said = [self.program, self.judge.name, sorted(self.prompts.items()), _digest(self.dataset.conversations)]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the program, judged."""

    question: Question
    text: str
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class UserRun:
    """What came of one conversation.

    Attributes:
        user: whose conversation it is.
        trace_id: its trace, as the recorder calls it.
        answers: in the order in which they were asked; none where it failed.
        error: why it failed; None where it did not.
        calls: replies of models that the program got, kept ones too.
        tokens: what they used.
    """

    user: str
    trace_id: str
    answers: tuple[Answer, ...] = ()
    error: str | None = None
    calls: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run.

    Attributes:
        users: in the order of the data set.
        calls: live calls of models.
        tokens: what they used.
        cost: what they cost; None without prices.
    """

    users: tuple[UserRun, ...]
    calls: int
    tokens: int
    cost: float | None

    @property
    def answers(self) -> list[Answer]:
        """All answers."""
        return [answer for one in self.users for answer in one.answers]


@dataclass(frozen=True, slots=True)
class Said:
    """Messages of one session that are added at once."""

    session: Session
    messages: tuple[Message, ...]

    def as_json(self) -> dict[str, Any]:
        """What the process of the program is told."""
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


def script(conversation: Conversation) -> list[Said | Question]:
    """What happens in a conversation, in order: what is said, and each question as soon as it may be asked."""
    waiting: dict[str | None, list[Question]] = {}
    for question in conversation.questions:
        waiting.setdefault(question.after, []).append(question)
    acts: list[Said | Question] = []
    for session in conversation.sessions:
        begun: list[Message] = []
        for message in session.messages:
            begun.append(message)
            if message.id in waiting:
                acts += [Said(session, tuple(begun)), *waiting[message.id]]
                begun = []
        if begun:
            acts.append(Said(session, tuple(begun)))
    return [*acts, *waiting.get(None, [])]


def _digest(conversations: Sequence[Conversation]) -> str:
    state = hashlib.sha256()
    for conversation in conversations:
        state.update(repr(conversation).encode("utf-8", "surrogatepass"))
    return state.hexdigest()
