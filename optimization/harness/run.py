"""Runs a program over a data set: each user in a process of its own, recorded, judged, and written to the graph.

Starting a killed run again continues it: finished users are not run again. Unfinished users start again, but model
replies that are kept in the folder of the run cost nothing. A question that fails, fails alone; the results so far are
in the graph after each question.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from memtrace.replay.budget import Budget

from ingest.files.registry import import_path
from optimization.harness.child import prompts_of
from optimization.harness.conversation_run import ConversationRun
from optimization.harness.datasets.model import Conversation
from optimization.harness.folder import RunFolder, opened
from optimization.harness.plan import FailedQuestion, Plan, RunOutcome, Tell, UserRun
from schema.errors import InputError, MemTraceError
from store.contract.protocol import GraphStore

_MOST_LOST = 3
"""The number of questions that may end the process before the conversation is given up."""


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
            found = await self._recorded(conversation)
            if found.problem is not None:
                return found
            finished = self.folder.finish(found), found
        self.tell("import", conversation.user, 0, 1)
        report = await import_path(self.store, finished[0])
        if report.rejected:
            first = report.rejected[0]
            raise InputError(str(finished[0]), f"line {first.line}", first.reason)
        self.tell("import", conversation.user, 1, 1)
        return finished[1]

    async def _recorded(self, conversation: Conversation) -> UserRun:
        """Run a conversation; a question that ends the process is left out of the next attempt."""
        skipped: dict[str, str] = {}
        while True:
            attempt = ConversationRun(self.plan, self.folder, self.store, self.tell, self.budget, conversation, skipped)
            found = await attempt.run()
            if attempt.lost is None:
                return found
            question, error = attempt.lost
            skipped[question.id] = error
            if len(skipped) > _MOST_LOST:
                return replace(found, failed=(*found.failed, FailedQuestion(question, error)))


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
