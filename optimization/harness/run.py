"""Runs a program over a data set: each user in a process of its own, recorded, judged, and written to the graph.

Starting a killed run again continues it: finished users are not run again. Unfinished users start again, but model
replies that are kept in the folder of the run cost nothing.
"""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import dataclass
from typing import Any

from memtrace.program.again import settings_here
from memtrace.replay import folder_of
from memtrace.replay.budget import Budget
from memtrace.replay.proxy import Proxy
from memtrace.replay.replies import REPLIES, Replies

from ingest.files.registry import import_path
from optimization.harness.child import Child, ProgramFailed, beginning, prompts_of
from optimization.harness.datasets.model import Conversation, Question
from optimization.harness.folder import RunFolder, opened
from optimization.harness.plan import Addition, Answer, Plan, RunOutcome, Tell, UserRun, script
from schema.errors import InputError, MemTraceError
from store.contract.protocol import GraphStore


def _silent(stage: str, user: str, done: int, total: int) -> None:
    """Report no progress."""


async def run(plan: Plan, store: GraphStore, tell: Tell = _silent, budget: Budget | None = None) -> RunOutcome:
    """Run a plan, or the unfinished part of it.

    If the program fails for one user, the other users go on.

    Args:
        plan: the plan.
        store: the project to which traces, failures and right answers are written.
        tell: called with the progress.
        budget: a budget of live calls that several runs share; the default comes from the plan's limits.

    Raises:
        InputError: a user or a prompt does not exist, or the folder belongs to another run.
        ProgramFailed: the program can't be started.
    """
    conversations = _chosen(plan)
    with opened(plan) as folder:
        if plan.prompts:
            await _check_prompts(plan, folder)
        budget = budget or Budget(calls=plan.limits.calls, cost=plan.limits.cost, prices=plan.limits.prices)
        places = asyncio.Semaphore(plan.limits.parallel)
        runner = _Runner(plan, folder, store, tell, budget)

        async def one(conversation: Conversation) -> UserRun:
            async with places:
                return await runner.user(conversation)

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(conversation)) for conversation in conversations]
        except* MemTraceError as errors:
            raise _first(errors) from None
        spent = budget.spent()
        return RunOutcome(tuple(task.result() for task in tasks), spent.calls, spent.tokens, spent.cost)


@dataclass(frozen=True, slots=True)
class _Runner:
    plan: Plan
    folder: RunFolder
    store: GraphStore
    tell: Tell
    budget: Budget

    async def user(self, conversation: Conversation) -> UserRun:
        """Run one conversation, unless it is finished, and write it to the graph."""
        finished = self.folder.finished(conversation)
        if finished is None:
            try:
                found = await self._recorded(conversation)
            except ProgramFailed as error:
                return UserRun(conversation.user, self.folder.trace_id(conversation.user), error=str(error))
            finished = self.folder.finish(found), found
        self.tell("import", conversation.user, 0, 1)
        report = await import_path(self.store, finished[0])
        if report.rejected:
            first = report.rejected[0]
            raise InputError(str(finished[0]), f"line {first.line}", first.reason)
        self.tell("import", conversation.user, 1, 1)
        return finished[1]

    async def _recorded(self, conversation: Conversation) -> UserRun:
        plan, user = self.plan, conversation.user
        trace = self.folder.trace_id(user)
        folder = self.folder.begin(user)
        await asyncio.to_thread(shutil.rmtree, folder_of(trace), ignore_errors=True)
        replies = Replies(self.folder.replies(user), "resume")
        proxy = Proxy(replies, self.budget)
        environment = {name: proxy.url_of(url) for name, url in plan.models.items()}
        try:
            async with Child(plan.program, plan.python, plan.directory, environment) as child:
                start = beginning(user, trace, plan.prompts, folder, plan.instruments)
                again = _again(plan, conversation) if plan.is_kept else None
                saved = str(self.folder.saved(user).absolute())
                await child.do("start", plan.limits.seconds, **start, again=again, saved=saved)
                answered = await self._talk(child, conversation)
                answers = await self._judged(child, conversation, answered)
                ended = await child.do("end", plan.limits.seconds)
        except ProgramFailed as error:
            refused = f" ({'; '.join(proxy.problems)})" if proxy.problems else ""
            raise ProgramFailed(f"{error}{refused}") from None
        finally:
            await asyncio.to_thread(proxy.close)
        if ended["lost"]:
            raise ProgramFailed(f"{ended['lost']:,} events of its recording were lost")
        kept = folder_of(trace)
        if kept.exists():
            await asyncio.to_thread(replies.copy, kept / REPLIES)
        used = proxy.given.spent()
        return UserRun(user, trace, tuple(answers), None, used.calls, used.tokens)

    async def _talk(self, child: Child, conversation: Conversation) -> list[tuple[Question, str]]:
        """Add the conversation's messages and ask its questions, in order; returns the answers."""
        acts, user, seconds = script(conversation), conversation.user, self.plan.limits.seconds
        total = sum(len(act.messages) for act in acts if isinstance(act, Addition))
        said, answered = 0, []
        for act in acts:
            if isinstance(act, Addition):
                await child.do("add", seconds, **act.as_json())
                said += len(act.messages)
                self.tell("construction", user, said, total)
            else:
                found = await child.do("ask", seconds, id=act.id, question=act.text)
                answered.append((act, found["answer"]))
                self.tell("answers", user, len(answered), len(conversation.questions))
        return answered

    async def _judged(
        self, child: Child, conversation: Conversation, answered: list[tuple[Question, str]]
    ) -> list[Answer]:
        """Judge all answers, and record failures and right answers."""
        answers = []
        for question, text in answered:
            judgement = await self.plan.judge.judge(question, text)
            answers.append(Answer(question, text, judgement))
            comment = f"{self.plan.judge.name}: {judgement.score:.2f}"
            await child.do(
                "judge",
                self.plan.limits.seconds,
                id=question.id,
                right=judgement.right,
                gold=list(question.gold),
                evidence=list(question.evidence),
                comment=f"{comment} {judgement.reason}".strip(),
            )
            self.tell("judging", conversation.user, len(answers), len(answered))
        return answers


def _again(plan: Plan, conversation: Conversation) -> dict[str, Any]:
    """Further parameters of ``start`` for conversations that can be replayed."""
    acts: list[dict[str, Any]] = []
    for act in script(conversation):
        if isinstance(act, Addition):
            acts.append({"do": "add", **act.as_json()})
        else:
            acts.append({"do": "ask", "id": act.id, "question": act.text})
    return {"models": dict(plan.models), "settings": settings_here(), "acts": acts}


def _first(errors: BaseExceptionGroup[MemTraceError]) -> MemTraceError:
    error = errors.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error


def _chosen(plan: Plan) -> list[Conversation]:
    by_user = {one.user: one for one in plan.dataset.conversations}
    if plan.users is None:
        return list(by_user.values())
    unknown = [user for user in plan.users if user not in by_user]
    if unknown:
        known = ", ".join(list(by_user)[:10])
        raise InputError("data set", "", f"has no user {unknown[0]!r}; it has {known}")
    return [by_user[user] for user in dict.fromkeys(plan.users)]


async def _check_prompts(plan: Plan, folder: RunFolder) -> None:
    own = await prompts_of(
        plan.program, plan.python, plan.directory, folder.begin("prompts of the program"), plan.limits.seconds
    )
    unknown = sorted(plan.prompts.keys() - own.keys())
    if unknown:
        raise InputError(plan.program, "", f"has no prompt {unknown[0]!r}; it has {', '.join(sorted(own)) or 'none'}")
