"""Runs the program over conversations with some prompts, and gets verdicts on wrong answers from the free pass.

No evaluation is run twice: its result is kept in the folder of the run. Model replies are kept by request, so
candidates whose prompts lead to the same request share the reply, and pay once.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from memtrace.replay.budget import Budget

from attribution.run import Options, attribute
from attribution.verdicts.stored import by_id
from optimization.gate.prompts import PLACEHOLDER
from optimization.harness.child import ProgramFailed
from optimization.harness.datasets.model import Question
from optimization.harness.folder import write
from optimization.harness.plan import Plan, UserRun
from optimization.harness.run import run
from schema.kinds import VariableKind
from schema.models import Attribution, Failure, Operation, Variable
from store.contract.protocol import GraphStore
from store.open import open_database


@dataclass(frozen=True, slots=True)
class Judged:
    """A judged answer, with the verdict if it is wrong.

    Attributes:
        question_id: unique in the conversation.
        question, gold, answer: texts.
        right: whether the answer was judged right.
        error_type: error type of the verdict; None for an abstention.
        operation: name of the operation at fault.
        prompt: name of the program's prompt that this operation used; None if it used none.
        reason: reason of the verdict, in words.
        quotes: the messages of the evidence.
    """

    question_id: str
    question: str
    gold: tuple[str, ...]
    answer: str
    right: bool
    error_type: str | None = None
    operation: str | None = None
    prompt: str | None = None
    reason: str = ""
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The answers of one conversation; ``tokens`` and ``calls`` count the program's model calls, kept or live."""

    user: str
    answers: tuple[Judged, ...]
    calls: int = 0
    tokens: int = 0

    @property
    def score(self) -> float:
        """The share of right answers; 0 without questions."""
        return sum(one.right for one in self.answers) / len(self.answers) if self.answers else 0.0


def candidate_id(prompts: Mapping[str, str]) -> str:
    """A hash of the texts of prompts, 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(sorted(prompts.items())).encode()).hexdigest()[:16]


def keep(path: Path, found: Evaluated) -> None:
    """Write an evaluation to a file, completely or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, asdict(found))


def kept(path: Path) -> Evaluated | None:
    """Read an evaluation from a file; None if the file does not exist."""
    if not path.exists():
        return None
    said: dict[str, Any] = json.loads(path.read_text("utf-8"))
    answers = tuple(
        Judged(**{**one, "gold": tuple(one["gold"]), "quotes": tuple(one["quotes"])}) for one in said.pop("answers")
    )
    return Evaluated(answers=answers, **said)


_LEAST_CHARACTERS = 20
"""Shortest prompt that is recognised inside a longer text that was sent to a model."""
_QUOTE_CHARACTERS = 400
_FAILURES = 500
_REASON_CHARACTERS = 1000


def is_of_budget(problem: str) -> bool:
    """Whether a failure's message says that a limit of calls or cost was reached."""
    return "the limit of" in problem and "is reached" in problem


class Evaluator:
    """Evaluates candidates.

    Args:
        plan: the program, data set, judge and folder; the plan's prompts and users are not used.
        prompts: the program's own prompts, by name.
        budget: budget of live model calls, shared by all evaluations.
    """

    def __init__(self, plan: Plan, prompts: Mapping[str, str], budget: Budget) -> None:
        self._plan = plan
        self._own = prompts
        self._budget = budget
        self._folder = plan.folder / "evaluations"

    async def evaluate(self, users: Sequence[str], prompts: Mapping[str, str]) -> list[Evaluated]:
        """Evaluate conversations with some prompts; returns the results in the order of ``users``.

        If the program fails with changed prompts (for example because it can't parse a reply), all answers of the
        conversation count as wrong.

        Raises:
            ProgramFailed: the program failed with its own prompts, or the budget is spent; the message says which.
        """
        folder = self._folder / candidate_id(prompts)
        known = {user: kept(self._file(folder, user)) for user in users}
        wanted = [user for user, found in known.items() if found is None]
        if wanted:
            changed = {name: text for name, text in prompts.items() if self._own.get(name) != text}
            plan = replace(
                self._plan,
                folder=folder,
                prompts=changed,
                users=wanted,
                replies=self._plan.folder / "replies",
                is_kept=False,  # verdicts of a search are never replayed
            )
            folder.mkdir(parents=True, exist_ok=True)
            async with await open_database(f"sqlite:///{folder}/graph.db") as database:
                store = database.project("default")
                outcome = await run(plan, store, budget=self._budget)
                for one in outcome.users:
                    if one.problem is not None and (not changed or is_of_budget(one.problem)):
                        raise ProgramFailed(f"{one.user}: {one.problem}")
                    failed = one.problem is not None
                    judged = self._failed(one, changed) if failed else await self._judged(store, one, prompts)
                    keep(self._file(folder, one.user), judged)
                    known[one.user] = judged
        return [found for user in users if (found := known[user]) is not None]

    def _failed(self, run_of_user: UserRun, changed: Mapping[str, str]) -> Evaluated:
        """An evaluation with wrong answers only; if a single prompt was changed, it is at fault."""
        (conversation,) = [one for one in self._plan.dataset.conversations if one.user == run_of_user.user]
        prompt = next(iter(changed)) if len(changed) == 1 else None
        reason = f"with this prompt the program failed: {run_of_user.problem}"[:_REASON_CHARACTERS]
        answers = [
            Judged(one.id, one.text, one.gold, "", right=False, prompt=prompt, reason=reason)
            for one in conversation.questions
        ]
        return Evaluated(run_of_user.user, tuple(answers), run_of_user.calls, run_of_user.tokens)

    def _file(self, folder: Path, user: str) -> Path:
        return folder / "evaluated" / f"{candidate_id({'user': user})}.json"

    async def _judged(self, store: GraphStore, run_of_user: UserRun, prompts: Mapping[str, str]) -> Evaluated:
        trace_ids = {trace.external_id: trace.id for trace in (await store.traces(first=1000)).items}
        page = await store.failures(trace_ids[run_of_user.trace_id], first=_FAILURES)
        by_question: dict[str, tuple[Failure, Attribution]] = {}
        questions = await by_id(store, Variable, (failure.question_id for failure in page.items))
        async for outcome in attribute(store, page.items, Options()):
            asked = questions[outcome.failure.question_id]
            by_question[asked.name] = outcome.failure, outcome.attribution
        answers = []
        for answer in run_of_user.answers:
            question = answer.question
            judged = Judged(question.id, question.text, question.gold, answer.text, answer.judgement.right)
            if not judged.right and question.id in by_question:
                judged = await self._explained(store, judged, *by_question[question.id], prompts)
            elif not judged.right:
                judged = replace(judged, quotes=self._evidence(run_of_user.user, question))
            answers.append(judged)
        return Evaluated(run_of_user.user, tuple(answers), run_of_user.calls, run_of_user.tokens)

    async def _explained(
        self, store: GraphStore, judged: Judged, failure: Failure, verdict: Attribution, prompts: Mapping[str, str]
    ) -> Judged:
        said = await by_id(store, Variable, failure.evidence_ids)
        quotes = tuple((one.preview or "")[:_QUOTE_CHARACTERS] for one in said.values())
        if verdict.operation_id is None:
            return replace(judged, error_type=verdict.error_type, reason=verdict.reason or "", quotes=quotes)
        operation = (await by_id(store, Operation, [verdict.operation_id])).get(verdict.operation_id)
        return replace(
            judged,
            error_type=verdict.error_type,
            operation=None if operation is None else operation.name,
            prompt=await _prompt_of(store, verdict.operation_id, prompts),
            reason=verdict.reason or "",
            quotes=quotes,
        )

    def _evidence(self, user: str, question: Question) -> tuple[str, ...]:
        texts = {
            message.id: message.text
            for one in self._plan.dataset.conversations
            if one.user == user
            for session in one.sessions
            for message in session.messages
        }
        return tuple(texts[one][:_QUOTE_CHARACTERS] for one in question.evidence if one in texts)


async def _prompt_of(store: GraphStore, operation_id: str, prompts: Mapping[str, str]) -> str | None:
    """The name of the program's prompt that an operation used, found by name, or by its text in the sent text."""
    detail = (await store.operations([operation_id])).get(operation_id)
    used = [one for one in detail.used if one.kind is VariableKind.PROMPT] if detail is not None else []
    for variable in used:
        if variable.name in prompts:
            return variable.name
    for variable in used:
        text = variable.value if variable.value is not None else variable.preview or ""
        for name, prompt in prompts.items():
            literal = max(re.split(PLACEHOLDER, prompt), key=len).strip()
            if len(literal) >= _LEAST_CHARACTERS and literal in text:
                return name
    return None
