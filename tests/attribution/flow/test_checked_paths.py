"""A verdict is stored only where its path passes the check; else an abstention says what is wrong with it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest
import pytest_asyncio

from attribution.free_pass.flow import FlowPass
from attribution.free_pass.proof_path import without_lone_mark
from attribution.run import Options, attribute
from attribution.trace.graph import TraceGraph
from attribution.verdicts.verdict import Verdict, from_attribution
from schema.kinds import ErrorType, QuestionKind
from schema.models import Attribution, Failure
from store.contract.protocol import Database
from store.open import open_database
from tests.attribution.flow.test_rules import retrieval

Change = Callable[[Verdict], Verdict]


@pytest_asyncio.fixture
async def embedded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    async with await open_database(f"sqlite:///{tmp_path_factory.mktemp('paths') / 'paths.db'}") as opened:
        yield opened


def as_it_is(verdict: Verdict) -> Verdict:
    return verdict


def of_no_operation(verdict: Verdict) -> Verdict:
    return replace(verdict, operation_id="0" * 32)


def misquoted(verdict: Verdict) -> Verdict:
    first, *others = verdict.path
    return replace(verdict, path=(replace(first, quote="The parrot is called Darwin."), *others))


def with_a_gap(verdict: Verdict) -> Verdict:
    return replace(verdict, path=(verdict.path[0], *verdict.path[2:]))


def of_no_variable(verdict: Verdict) -> Verdict:
    return replace(verdict, path=(*verdict.path[:-1], replace(verdict.path[-1], variable_id="0" * 32)))


def with_a_misquoted_piece(verdict: Verdict) -> Verdict:
    (loss,) = verdict.losses
    return replace(verdict, losses=(loss, replace(loss, path=misquoted(verdict).path)))


def of_a_piece_that_nothing_lost(verdict: Verdict) -> Verdict:
    return replace(verdict, losses=(replace(verdict.losses[0], operation_id="0" * 32),))


async def stored(embedded: Database, monkeypatch: pytest.MonkeyPatch, change: Change) -> Attribution:
    """What is stored of a failure of retrieval where the free pass gives a changed verdict."""
    story, failure = retrieval()
    store = embedded.project("rules")
    await story.trace.write(store)
    unchanged = FlowPass.attribute

    async def changed(self: FlowPass, graph: TraceGraph, one: Failure, *, gold_free: bool = False) -> Verdict:
        return change(await unchanged(self, graph, one, gold_free=gold_free))

    monkeypatch.setattr(FlowPass, "attribute", changed)
    assert [outcome.cached async for outcome in attribute(store, [failure], Options())] == [False]
    (found,) = await store.attributions([failure.id])
    return found


async def test_a_path_that_holds_is_stored_with_its_verdict(
    embedded: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await stored(embedded, monkeypatch, as_it_is)
    assert one.error_type is ErrorType.RETRIEVAL
    assert one.operation_id is not None
    (loss,) = from_attribution(one).losses
    assert (loss.error_type, loss.operation_id) == (one.error_type, one.operation_id)
    assert one.question_kind is QuestionKind.PLAIN


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (of_no_operation, f"operation {'0' * 32} is not in the trace"),
        (misquoted, "step 0: the quote does not stand in the value"),
        (with_a_gap, "step 1: does not follow from the step before"),
        (with_a_misquoted_piece, "piece 1, step 0: the quote does not stand in the value"),
        (of_a_piece_that_nothing_lost, f"piece 0, operation {'0' * 32} is not in the trace"),
        (of_no_variable, f"variable {'0' * 32} is not in the trace"),
    ],
)
async def test_a_path_that_does_not_hold_makes_an_abstention(
    embedded: Database, monkeypatch: pytest.MonkeyPatch, change: Change, problem: str
) -> None:
    one = await stored(embedded, monkeypatch, change)
    assert (one.error_type, one.operation_id, one.confidence) == (None, None, 0.0)
    assert (one.reason or "").startswith("the path of the verdict does not hold: ")
    assert problem in (one.reason or "")
    assert (one.losses, one.question_kind) == ("[]", QuestionKind.PLAIN)


@pytest.mark.parametrize(
    ("quote", "shown"),
    [
        ('"I like green tea. ', "I like green tea."),
        ('It is cold."', "It is cold."),
        ('"It is cold."', '"It is cold."'),
        ('He said "no", and left.', 'He said "no", and left.'),
        ('a 12" pipe', 'a 12" pipe'),
    ],
)
def test_a_quote_out_of_json_has_no_mark_without_its_other(quote: str, shown: str) -> None:
    assert without_lone_mark(quote) == shown
