"""Two traces or two methods side by side: what was fixed and what was broken, case by case."""

from typing import Annotated

import strawberry

from api.graphql.context import Info
from api.graphql.cost import LONG
from api.graphql.pages import After, Connection, First, asked_page, connection
from api.graphql.refs import AttributionRef, FailureRef
from api.graphql.remembering import offset_of
from api.graphql.resolving import id_meant
from api.graphql.scalars import CaseOutcome
from attribution.compare import runs as comparing
from attribution.verdicts.stored import by_id
from schema import models
from store.contract.answers import Label, Page
from store.contract.protocol import GraphStore

Only = Annotated[CaseOutcome | None, strawberry.argument(description="Only cases with this outcome; all if null.")]


@strawberry.type(description="One side of a case: a case in one of two traces, or the verdict of one of two methods.")
class ComparedSide:
    """The fields of ``attribution.compare.runs.Side``."""

    answer: str | None = strawberry.field(
        description="The answer's text. If the answer is not known to be wrong and is longer than 2,048 bytes, its "
        "first 500 characters.",
        metadata=LONG,
    )
    answer_id: strawberry.ID | None = strawberry.field(description="The id of the variable that holds the answer.")
    failure: FailureRef | None = strawberry.field(
        description="The failure; null if the answer is not known to be wrong."
    )
    verdict: AttributionRef | None = strawberry.field(
        description="The verdict that counts on the failure; with two methods, the verdict of this method."
    )
    is_right: bool | None = strawberry.field(
        description="For a trace, whether the answer is right, by whoever judged it or else by the gold answer that "
        "the other trace knows; for a method, whether its verdict names the error type and operation that people "
        "name. Null if nobody knows."
    )


@strawberry.type(description="A question in both of two traces, or a failure with the verdicts of two methods.")
class ComparedCase:
    """The fields of ``attribution.compare.runs.ComparedQuestion``."""

    outcome: CaseOutcome = strawberry.field(description="The outcome.")
    question: str = strawberry.field(description="The question.", metadata=LONG)
    gold_answers: list[str] = strawberry.field(
        description="The gold answers; empty where none are known.", metadata=LONG
    )
    before: ComparedSide | None = strawberry.field(
        description="The first side; null if the question was not asked there."
    )
    after: ComparedSide | None = strawberry.field(
        description="The second side; null if the question was not asked there."
    )
    judged: AttributionRef | None = strawberry.field(
        description="With two methods, the verdict of people that both are compared with; null if there is none."
    )


@strawberry.type(description="How many cases have an outcome.")
class OutcomeCount:
    outcome: CaseOutcome = strawberry.field(description="The outcome.")
    count: int = strawberry.field(description="How many cases.")


@strawberry.type(
    description="Two traces, or two methods, side by side. An answer that nobody judged is judged by the gold answer "
    "that the other trace knows, or counts as notJudged."
)
class Comparison:
    """The fields of ``attribution.compare.runs.Compared``."""

    found: strawberry.Private[comparing.Compared]
    outcomes: list[OutcomeCount] = strawberry.field(
        description="How many cases have each outcome, including outcomes without a case.", metadata={"size": 7}
    )
    p_value: float = strawberry.field(
        description="The probability of a split into fixed and broken at least this uneven by chance: the exact "
        "two-sided McNemar test."
    )

    @strawberry.field(description="The cases, in the order of the first trace.")
    def cases(
        self, info: Info, first: First = 20, after: After = None, outcome: Only = None
    ) -> Connection[ComparedCase]:
        size, cursor = asked_page(info, first, after)
        start = offset_of(cursor)
        wanted = [case for case in self.found.cases if outcome is None or case.outcome is outcome]
        more = str(start + size) if start + size < len(wanted) else None
        return connection(info, Page([_case(case) for case in wanted[start : start + size]], more))


async def traces_compared(store: GraphStore, before: str, after: str) -> Comparison | None:
    """The comparison of two traces; None if a trace is unknown."""
    ids = [await id_meant(store, Label.TRACE, reference) for reference in (before, after)]
    found = await by_id(store, models.Trace, ids)
    if not set(ids) <= found.keys():
        return None
    return _comparison(await comparing.compare_traces(store, *(found[id_] for id_ in ids)))


async def methods_compared(store: GraphStore, before: str, after: str, trace: str | None) -> Comparison | None:
    """The comparison of two methods; None if a method gave no verdict."""
    found = await comparing.compare_methods(store, before, after, trace)
    return None if found is None else _comparison(found)


def _comparison(found: comparing.Compared) -> Comparison:
    counts = [OutcomeCount(outcome=one, count=found.counts[one]) for one in CaseOutcome]
    return Comparison(found=found, outcomes=counts, p_value=found.p_value)


def _case(case: comparing.ComparedQuestion) -> ComparedCase:
    return ComparedCase(
        outcome=case.outcome,
        question=case.question,
        gold_answers=list(case.gold_answers),
        before=_side(case.before),
        after=_side(case.after),
        judged=case.judged,
    )


def _side(side: comparing.Side | None) -> ComparedSide | None:
    if side is None:
        return None
    return ComparedSide(
        answer=side.answer,
        answer_id=None if side.answer_id is None else strawberry.ID(side.answer_id),
        failure=side.failure,
        verdict=side.verdict,
        is_right=side.is_right,
    )
