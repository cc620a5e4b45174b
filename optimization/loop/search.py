"""The search for better prompts: gepa (Agrawal et al. 2025, arXiv 2507.19457), steered by verdicts.

gepa decides which prompts to try; this module evaluates, keeps, counts and chooses. gepa gets no run folder (gepa's
state is a pickle, and gepa would evaluate the first prompts again), no cache (which would mix up ids of training and
validation conversations), and always a validation set.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from optimization.harness.child import ProgramFailed
from optimization.loop.evaluator import Evaluated, Evaluator, candidate_id, is_of_budget
from optimization.loop.reflection import Reflector
from optimization.loop.split import Split
from schema.errors import InputError, MemTraceError

_MINIBATCH = 3
_TEMPLATE = """A program that remembers conversations uses this prompt:
```
<curr_param>
```

Some answers that rest on it were wrong. For each: the question, the answer, why it is wrong, and what had been said.

<side_info>

Write the prompt anew so that such mistakes do not happen, in these conversations or in others. Keep every placeholder
exactly as it is, such as {name} or {{name}}, and what the prompt says about the form of its reply. Do not write names,
days, numbers or other content of these conversations into the prompt: it has to work for people whom you do not know.

Give the new prompt within ``` blocks, and nothing else."""


@dataclass(slots=True)
class TriedPrompts:
    """A candidate of the search: texts of the prompts, and shares of right answers by validation conversation."""

    id: str
    prompts: dict[str, str]
    parent: str | None
    changed: str | None
    scores: dict[str, float] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """The mean over the validation conversations."""
        return sum(self.scores.values()) / len(self.scores) if self.scores else 0.0


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search.

    Attributes:
        candidates: all candidates, the program's own prompts first.
        ended: why the search ended, in words.
        evaluations: number of evaluated conversations, including kept evaluations.
        reflections: number of the reflecting model's replies, including kept replies.
    """

    candidates: tuple[TriedPrompts, ...]
    ended: str
    evaluations: int
    reflections: int

    def best(self, users: Sequence[str]) -> TriedPrompts:
        """The candidate with the best mean over all validation conversations; a tie goes to the earliest."""
        whole = [one for one in self.candidates if one.scores.keys() >= set(users)]
        return max(whole, key=lambda one: one.score) if whole else self.candidates[0]


async def search(
    evaluator: Evaluator,
    reflector: Reflector,
    prompts: Mapping[str, str],
    split: Split,
    max_evaluations: int,
    seed: int = 0,
    *,
    by_blame: bool = True,
) -> Found:
    """Search for better prompts.

    Args:
        evaluator: evaluates candidates.
        reflector: writes new texts.
        prompts: the prompts to begin with.
        split: the conversations for training and validation.
        max_evaluations: largest number of conversations to evaluate.
        seed: seed for the order of training conversations.
        by_blame: whether verdicts choose the prompt to change; False changes the prompts in turn.

    Raises:
        InputError: the package gepa is missing.
        ProgramFailed: the program failed for another reason than the budget.
        MemTraceError: the reflecting model failed for another reason than the budget.
    """
    gepa_optimize = _gepa_optimize()
    adapter = _Adapter(evaluator, asyncio.get_running_loop(), split, max_evaluations, prompts, by_blame)

    def reflect(prompt: str) -> str:
        return asyncio.run_coroutine_threadsafe(reflector.reply(prompt), adapter.loop).result()

    def is_over(state: Any) -> bool:
        return reflector.problem is not None or adapter.is_perfect

    def work() -> None:
        gepa_optimize(
            seed_candidate=dict(prompts),
            trainset=list(split.train),
            valset=list(split.validation),
            adapter=adapter,
            reflection_lm=reflect,
            reflection_prompt_template=_TEMPLATE,
            reflection_minibatch_size=min(_MINIBATCH, len(split.train)),
            module_selector=adapter.blamed if by_blame else "round_robin",
            max_metric_calls=max_evaluations,
            stop_callbacks=[is_over],
            logger=_Quiet(),
            seed=seed,
        )

    ended = f"{max_evaluations:,} evaluations were made"
    try:
        await asyncio.to_thread(work)
    except _EnoughError:
        pass
    except ProgramFailed as error:
        if not is_of_budget(str(error)):
            raise
        ended = str(error)
    if reflector.problem is not None:
        if not is_of_budget(reflector.problem):
            raise MemTraceError(f"the reflecting model gave no reply: {reflector.problem}")
        ended = reflector.problem
    elif adapter.is_perfect:
        ended = "all answers of the validation conversations are right"
    return Found(tuple(adapter.candidates.values()), ended, adapter.evaluations, reflector.asked)


def _gepa_optimize() -> Any:
    try:
        from gepa.api import optimize
    except ImportError:
        raise InputError(
            "optimize", "", "needs the extra optimize: pip install 'memtrace-platform[optimize]'"
        ) from None
    return optimize


class _EnoughError(Exception):
    """The search has used up its evaluations."""


class _Quiet:
    def log(self, message: str) -> None:
        """Drop gepa's messages; the search reports progress itself."""


class _Adapter:
    """gepa's interface to the program: evaluations, and examples for the reflecting model."""

    propose_new_texts = None
    """gepa proposes nothing if this attribute is missing."""

    def __init__(
        self,
        evaluator: Evaluator,
        loop: asyncio.AbstractEventLoop,
        split: Split,
        max_evaluations: int,
        prompts: Mapping[str, str],
        by_blame: bool,
    ) -> None:
        self.loop = loop
        self._by_blame = by_blame
        self._evaluator = evaluator
        self._split = split
        self._most = max_evaluations
        self.evaluations = 0
        first = TriedPrompts(candidate_id(prompts), dict(prompts), None, None)
        self.candidates = {first.id: first}
        self._reflected: tuple[str, str] | None = None
        """Id of the candidate, and name of the prompt, of the latest examples for the reflecting model."""

    @property
    def is_perfect(self) -> bool:
        """Whether a candidate has only right answers."""
        return any(
            len(one.scores) == len(self._split.validation) and one.score >= 1.0 for one in self.candidates.values()
        )

    def evaluate(self, batch: list[str], candidate: dict[str, str], capture_traces: bool = False) -> Any:
        """Evaluate users' conversations; keeps the limit exactly, unlike gepa's own limit."""
        from gepa.core.adapter import EvaluationBatch

        if self.evaluations + len(batch) > self._most:
            raise _EnoughError
        self.evaluations += len(batch)
        evaluating = self._evaluator.evaluate(batch, candidate)
        found = asyncio.run_coroutine_threadsafe(evaluating, self.loop).result()
        known = self._known(candidate)
        known.scores.update({one.user: one.score for one in found if one.user in self._split.validation})
        scores = [one.score for one in found]
        return EvaluationBatch(outputs=found, scores=scores, trajectories=found if capture_traces else None)

    def make_reflective_dataset(
        self, candidate: dict[str, str], batch: Any, components_to_update: list[str]
    ) -> dict[str, list[dict[str, Any]]]:
        """Examples per prompt: wrong answers for which verdicts blame the prompt, else wrong answers without blame.

        If the prompts are changed in turn, the examples are all wrong answers.
        """
        wrong = [one for found in batch.trajectories for one in found.answers if not one.right]
        shown = {}
        for name in components_to_update:
            blamed = wrong
            if self._by_blame:
                blamed = [one for one in wrong if one.prompt == name] or [one for one in wrong if one.prompt is None]
            if blamed:
                shown[name] = [
                    {
                        "Question": one.question,
                        "Answer": one.answer,
                        "Why it is wrong": _why(one.error_type, one.operation, one.reason),
                        "What had been said": list(one.quotes) or ["(unknown)"],
                    }
                    for one in blamed
                ]
                self._reflected = candidate_id(candidate), name
        return shown

    def blamed(
        self, state: Any, trajectories: list[Evaluated], scores: list[float], number: int, candidate: dict[str, str]
    ) -> list[str]:
        """The prompt that verdicts blame most; without blame, the prompt that was changed least often."""
        votes = Counter(
            one.prompt
            for found in trajectories or []
            for one in found.answers
            if not one.right and one.prompt is not None
        )
        if votes:
            return [votes.most_common(1)[0][0]]
        changes = Counter(one.changed for one in self.candidates.values())
        return [min(candidate, key=lambda name: (changes[name], list(candidate).index(name)))]

    def _known(self, candidate: dict[str, str]) -> TriedPrompts:
        id_ = candidate_id(candidate)
        if id_ not in self.candidates:
            parent, changed = self._reflected or (None, None)
            self.candidates[id_] = TriedPrompts(id_, dict(candidate), parent, changed)
        return self.candidates[id_]


def _why(error_type: str | None, operation: str | None, reason: str) -> str:
    if error_type is None:
        return f"nobody knows for sure: {reason}" if reason else "nobody knows"
    at = f" in the operation {operation}" if operation else ""
    return f"{error_type}{at}: {reason}"
