"""Runs one conversation once: tells the program the messages, asks the questions, and judges each answer at once."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memtrace.program.again import settings_here
from memtrace.replay import folder_of
from memtrace.replay.budget import Budget
from memtrace.replay.proxy import Proxy
from memtrace.replay.replies import REPLIES, Replies

from optimization.harness.child import Child, ProcessLost, ProgramFailed, beginning
from optimization.harness.datasets.model import Conversation, Question
from optimization.harness.folder import RunFolder
from optimization.harness.judging import NOT_KNOWN
from optimization.harness.plan import Addition, Answer, FailedQuestion, Plan, Tell, UserRun, asking, script
from optimization.harness.results import ResultsSoFar
from schema.errors import MemTraceError
from store.contract.protocol import GraphStore


@dataclass(slots=True)
class ConversationRun:
    """One attempt at a conversation.

    Attributes:
        skipped: errors of questions that ended an earlier attempt, by their ids; these are not asked again.
        answers: the judged answers so far.
        failed: the questions that failed so far.
        lost: the question that ended the process, with the error; None if none did.
    """

    plan: Plan
    folder: RunFolder
    store: GraphStore
    tell: Tell
    budget: Budget
    conversation: Conversation
    skipped: Mapping[str, str]
    answers: list[Answer] = field(default_factory=list)
    failed: list[FailedQuestion] = field(default_factory=list)
    lost: tuple[Question, str] | None = None

    async def run(self) -> UserRun:
        """Run the conversation from its beginning; the results so far are in the graph after each question."""
        plan, user = self.plan, self.conversation.user
        trace = self.folder.trace_id(user)
        folder = self.folder.begin(user)
        await asyncio.to_thread(shutil.rmtree, folder_of(trace), ignore_errors=True)
        replies = Replies(self.folder.replies(user), "resume")
        proxy = Proxy(replies, self.budget, plan.limits.seconds)
        environment = {name: proxy.url_of(url) for name, url in plan.models.items()}
        start = beginning(user, trace, plan.prompts, folder, plan.instruments)
        results = ResultsSoFar(self.store, folder / "events.ndjson", trace)
        await results.forget()
        error = None
        try:
            async with Child(plan.program, plan.python, plan.directory, environment) as child:
                again = _again(plan, self.conversation) if plan.is_kept else None
                saved = str(self.folder.saved(user).absolute())
                await child.do("start", plan.limits.seconds, **start, again=again, saved=saved)
                await self._talk(child, proxy, results)
                ended = await child.do("end", plan.limits.seconds)
            if ended["lost"]:
                error = f"{ended['lost']:,} events of its recording were lost"
        except ProgramFailed as failure:
            error = f"{failure}{_refusals(proxy, 0)}"
        finally:
            await asyncio.to_thread(proxy.close)
        if error is not None:
            await results.write()
        kept = folder_of(trace)
        if error is None and kept.exists():
            await asyncio.to_thread(replies.copy, kept / REPLIES)
        used = proxy.given.spent()
        return UserRun(user, trace, tuple(self.answers), error, used.calls, used.tokens, tuple(self.failed))

    async def _talk(self, child: Child, proxy: Proxy, results: ResultsSoFar) -> None:
        acts, user, seconds = script(self.conversation), self.conversation.user, self.plan.limits.seconds
        total = sum(len(act.messages) for act in acts if isinstance(act, Addition))
        said = asked = 0
        for act in acts:
            if isinstance(act, Addition):
                await child.do("add", seconds, **act.as_json())
                said += len(act.messages)
                self.tell("construction", user, said, total)
                continue
            await self._ask(child, proxy, act)
            await results.write()
            asked += 1
            self.tell("answers", user, asked, len(self.conversation.questions))

    async def _ask(self, child: Child, proxy: Proxy, question: Question) -> None:
        """Ask a question and judge the answer. An error of the program or the judge fails this question only.

        Raises:
            ProcessLost: the process ended, or took too long; ``lost`` says at which question.
        """
        if question.id in self.skipped:
            self.failed.append(FailedQuestion(question, self.skipped[question.id]))
            return
        before = len(proxy.problems)
        try:
            text = (await child.do("ask", self.plan.limits.seconds, **asking(question)))["answer"]
        except ProcessLost as error:
            self.lost = question, f"{error}{_refusals(proxy, before)}"
            raise
        except ProgramFailed as error:
            self.failed.append(FailedQuestion(question, f"{error}{_refusals(proxy, before)}"))
            return
        try:
            await self._judge(child, question, text)
        except ProcessLost:
            raise
        except MemTraceError as error:
            self.failed.append(FailedQuestion(question, f"judge: {error}", text))

    async def _judge(self, child: Child, question: Question, text: str) -> None:
        judge = self.plan.judge
        judgement = await judge.judge(question, text)
        await child.do(
            "judge",
            self.plan.limits.seconds,
            id=question.id,
            right=judgement.right,
            gold=list(question.gold) or [NOT_KNOWN],
            evidence=list(question.evidence),
            comment=f"{judge.name}: {judgement.score:.2f} {judgement.reason}".strip(),
        )
        self.answers.append(Answer(question, text, judgement))
        self.tell("judging", self.conversation.user, len(self.answers), len(self.conversation.questions))


def _refusals(proxy: Proxy, before: int) -> str:
    """The reasons why requests to models were refused, after the first ``before`` ones."""
    problems = list(dict.fromkeys(proxy.problems[before:]))
    return f" ({'; '.join(problems)})" if problems else ""


def _again(plan: Plan, conversation: Conversation) -> dict[str, Any]:
    """Further parameters of ``start`` for conversations that can be replayed."""
    acts: list[dict[str, Any]] = []
    for act in script(conversation):
        if isinstance(act, Addition):
            acts.append({"do": "add", **act.as_json()})
        else:
            acts.append({"do": "ask", **asking(act)})
    return {"models": dict(plan.models), "settings": settings_here(), "acts": acts}
