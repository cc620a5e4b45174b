"""Two runs, or two methods, side by side: which questions were fixed, and which broke.

A run is a trace. An answer is wrong if a failure names it, and right if it was judged right. An answer that nobody
judged is judged by the gold answer that the other run knows, if that decides it; see ``known_gold``.
For two methods, verdicts on the same failures are compared with the person's verdict that counts: a verdict is right if
it names the same error type and operation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from attribution.compare.known_gold import judged
from attribution.compare.pairing import Places, pairs
from attribution.statistics.kappa import is_from
from attribution.statistics.mcnemar import mcnemar
from attribution.text.said import text_of
from attribution.verdicts.stored import by_id, every_failure, word_on
from ingest.events.questions import questions_of
from schema.errors import InputError
from schema.kinds import HUMAN_METHOD, VariableKind
from schema.models import Attribution, Failure, Trace, Variable
from store.contract.protocol import GraphStore
from store.shared.paging import elements

MOST_CASES = 10_000
"""The maximal number of failures of two methods, or of answers of a trace, to compare."""
_AT_ONCE = 500


class CaseOutcome(StrEnum):
    """What became of a case from the first to the second.

    DIFFERENT: two methods say different things, and no person has said which is right. NOT_JUDGED: nobody judged one of
    two answers, and no gold answer decides it. NOT_COMPARED: it has no counterpart, or nobody says what is right.
    """

    FIXED = "fixed"
    BROKEN = "broken"
    STILL_WRONG = "stillWrong"
    STILL_RIGHT = "stillRight"
    DIFFERENT = "different"
    NOT_JUDGED = "notJudged"
    NOT_COMPARED = "notCompared"


@dataclass(frozen=True, slots=True)
class Side:
    """One run's answer, or one method's verdict, in a compared case.

    Attributes:
        answer: what was answered; of a right answer at least the first 500 characters.
        answer_id: the variable that holds the answer.
        failure: None if the answer is not known to be wrong.
        verdict: why the answer is wrong; for two methods, this method's verdict.
        is_right: whether the answer is right, or the verdict agrees with people's; None if nobody knows.
    """

    answer: str | None
    answer_id: str | None
    failure: Failure | None
    verdict: Attribution | None
    is_right: bool | None


@dataclass(frozen=True, slots=True)
class ComparedQuestion:
    """A case in both runs, or by both methods.

    Attributes:
        before, after: None for a question that this run did not ask.
        judged: for two methods, the person's verdict with which both are compared.
    """

    outcome: CaseOutcome
    question: str
    gold_answers: Sequence[str]
    before: Side | None
    after: Side | None
    judged: Attribution | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """All cases, and the number of cases of each outcome.

    Attributes:
        p_value: of the exact two-sided McNemar test of fixed against broken cases.
    """

    cases: list[ComparedQuestion]
    counts: Counter[CaseOutcome]
    p_value: float

    @classmethod
    def of(cls, cases: list[ComparedQuestion]) -> Compared:
        """Count cases."""
        counts = Counter(case.outcome for case in cases)
        return cls(cases, counts, mcnemar(counts[CaseOutcome.FIXED], counts[CaseOutcome.BROKEN]))


async def compare_traces(store: GraphStore, before: Trace, after: Trace) -> Compared:
    """Compare two traces in which the same questions were asked.

    Raises:
        InputError: a trace has too many answers.
    """
    one, other = await _turns(store, before), await _turns(store, after)
    failures = [turn.failure for turn in (*one, *other) if turn.failure is not None]
    verdicts = word_on(await store.attributions([failure.id for failure in failures]), failures)
    cases = []
    for first, second in pairs(one, other, Places([before.external_id], [after.external_id])):
        known = second or first
        assert known is not None
        failed = next((turn.failure for turn in (first, second) if turn and turn.failure), None)
        left, right = (None if turn is None else turn.side(verdicts, failed) for turn in (first, second))
        golds = failed.gold_answers if failed else ()
        cases.append(ComparedQuestion(_outcome_of_sides(left, right), known.question, golds, left, right))
    return Compared.of(cases)


async def compare_methods(store: GraphStore, before: str, after: str, trace_id: str | None) -> Compared | None:
    """Compare two methods, or a method and a person, on the same failures; None if one gave no verdict.

    Raises:
        InputError: there are too many failures.
    """
    failures = await every_failure(store, trace_id)
    if len(failures) > MOST_CASES:
        raise InputError("compare", "", f"there are more than {MOST_CASES:,} failures: name a trace")
    given: dict[str, list[Attribution]] = {}
    for verdict in await store.attributions([failure.id for failure in failures]):
        given.setdefault(verdict.failure_id, []).append(verdict)
    cases, told = [], [False, False]
    for failure in failures:
        said = given.get(failure.id, [])
        judged = word_on((one for one in said if one.method == HUMAN_METHOD), [failure]).get(failure.id)
        left, right = (_said_by(source, failure, said, judged) for source in (before, after))
        told = [told[0] or left.verdict is not None, told[1] or right.verdict is not None]
        outcome = _outcome_of_verdicts(left, right)
        cases.append(ComparedQuestion(outcome, failure.question, failure.gold_answers, left, right, judged))
    return Compared.of(cases) if all(told) else None


@dataclass(frozen=True, slots=True)
class _Turn:
    """A question and its answer in a trace; an ``attribution.compare.pairing.Question``."""

    failure_id: str
    trace_external_id: str
    question_external_id: str | None
    question: str
    answer: Variable | None
    failure: Failure | None

    def side(self, verdicts: dict[str, Attribution], failed: Failure | None) -> Side:
        """This answer; ``failed`` is the failure of the question in one of the two runs, which has the gold answers."""
        failure, answer = self.failure, self.answer
        if failure is not None:
            return Side(failure.prediction, failure.answer_id, failure, verdicts.get(failure.id), False)
        assert answer is not None
        text, is_right = text_of(answer.value or answer.preview), answer.right
        if is_right is None and failed is not None:
            is_right = judged(text, self.question, failed.gold_answers, failed.prediction)
        return Side(text, answer.id, None, None, is_right)


async def _turns(store: GraphStore, trace: Trace) -> list[_Turn]:
    failures = await every_failure(store, trace.id)
    wrong = {failure.answer_id for failure in failures}
    answers = [one for one in await elements(store, Variable, trace.id, [VariableKind.ANSWER]) if one.id not in wrong]
    if len(answers) + len(failures) > MOST_CASES:
        raise InputError("compare", "", f"there are more than {MOST_CASES:,} answers in {trace.external_id!r}")
    asked = await by_id(store, Variable, (failure.question_id for failure in failures))
    found = []
    for failure in failures:
        question = asked.get(failure.question_id)
        name = question.external_id if question else None
        found.append(_Turn(failure.id, trace.external_id, name, failure.question, None, failure))
    for start in range(0, len(answers), _AT_ONCE):
        some = answers[start : start + _AT_ONCE]
        questions = await questions_of(store, some)
        for answer in some:
            # An answer without a known question has no counterpart in the other trace.
            for question in questions[answer.id][:1]:
                text = text_of(question.value or question.preview)
                found.append(_Turn(answer.id, trace.external_id, question.external_id, text, answer, None))
    return found


def _outcome_of_sides(before: Side | None, after: Side | None) -> CaseOutcome:
    if before is None or after is None:
        return CaseOutcome.NOT_COMPARED
    if before.is_right is None or after.is_right is None:
        return CaseOutcome.NOT_JUDGED
    return _outcome(before.is_right, after.is_right)


def _said_by(source: str, failure: Failure, said: Sequence[Attribution], judged: Attribution | None) -> Side:
    verdict = next((one for one in reversed(said) if is_from(one, source)), None)
    is_right = None if judged is None or verdict is None else _alike(verdict, judged)
    return Side(failure.prediction, failure.answer_id, failure, verdict, is_right)


def _outcome_of_verdicts(before: Side, after: Side) -> CaseOutcome:
    if before.is_right is not None and after.is_right is not None:
        return _outcome(before.is_right, after.is_right)
    if before.verdict is not None and after.verdict is not None and not _alike(before.verdict, after.verdict):
        return CaseOutcome.DIFFERENT
    return CaseOutcome.NOT_COMPARED


def _outcome(was_right: bool, is_right: bool) -> CaseOutcome:
    if was_right:
        return CaseOutcome.STILL_RIGHT if is_right else CaseOutcome.BROKEN
    return CaseOutcome.FIXED if is_right else CaseOutcome.STILL_WRONG


def _alike(one: Attribution, other: Attribution) -> bool:
    return (one.error_type, one.operation_id) == (other.error_type, other.operation_id)
