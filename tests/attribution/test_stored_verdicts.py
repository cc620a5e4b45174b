"""Verdicts in the store: nothing is lost on the way, the right one counts, and people read labels."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from attribution.verdicts.gold import gold_mark, gold_mark_of, on_earlier_gold
from attribution.verdicts.naming import given_name, operation_label, plain, session_label, variable_label
from attribution.verdicts.reasons import day_lost, lost_day, written
from attribution.verdicts.stored import word_on
from attribution.verdicts.usage import Usage
from attribution.verdicts.verdict import (
    CandidateVerdict,
    Link,
    Method,
    PieceLoss,
    Step,
    Verdict,
    abstention,
    failed_attempt,
    from_attribution,
    has_failed,
    own_loss,
    to_attribution,
    unsure,
)
from schema.kinds import HUMAN_METHOD, ErrorType, OperationKind, QuestionKind, VariableKind
from schema.models import Attribution, Failure
from store.contract.verdict_changes import adjudication_id
from tests.factory import TraceBuilder

PATH = (Step("m", None, Link.START, "tea", True), Step("c", "o", Link.OPERATION, "", False))
WHOLE = Verdict(
    ErrorType.RETRIEVAL,
    "o",
    0.75,
    "not returned",
    PATH,
    (
        CandidateVerdict(ErrorType.UPDATE, "p", 0.25, "or overwritten"),
        CandidateVerdict(ErrorType.JUDGE, None, None, ""),
    ),
    "a model",
    Usage(10, 5, 2, 0.5),
    1.5,
    {"evidence": ["m"]},
    (
        PieceLoss("tea", ErrorType.RETRIEVAL, "o", 0.75, "not returned", PATH),
        PieceLoss("cake", None, None, 0.5, "there", PATH[:1], reached=True),
    ),
    next(iter(QuestionKind)),
)


def failure(*gold: str) -> Failure:
    trace = TraceBuilder("p")
    return replace(trace.failure(trace.variable("q")), gold_answers=gold)


def test_a_verdict_comes_back_whole() -> None:
    stored = to_attribution(WHOLE, failure(), Method.WALK, "inputs")
    assert (stored.method, stored.tokens, stored.cost, stored.author) == ("walk", 15, 0.5, None)
    assert (stored.failure_id, stored.trace_id) == (failure().id, failure().trace_id)
    back = from_attribution(stored)
    assert back == replace(WHOLE, details={"evidence": ["m"], "inputs": "inputs"})
    again = to_attribution(WHOLE, failure(), Method.WALK, "inputs")
    assert again.id == stored.id
    others = {to_attribution(WHOLE, failure(), *more).id for more in ((Method.LLM, "inputs"), (Method.WALK, "others"))}
    assert len(others | {stored.id}) == 3


def test_a_person_s_verdict_may_leave_much_open() -> None:
    given = replace(
        to_attribution(abstention(""), failure(), Method.FLOW, ""), confidence=None, reason=None, seconds=None
    )
    found = from_attribution(given)
    assert (found.confidence, found.reason, found.seconds) == (0.0, "", 0.0)


@pytest.mark.parametrize(
    ("verdict", "losses"),
    [
        (abstention("?", path=PATH), ()),
        (Verdict(ErrorType.UPDATE, "o", 0.5, "r"), ()),
        (Verdict(ErrorType.UPDATE, "o", 0.5, "r", PATH), (PieceLoss("tea", ErrorType.UPDATE, "o", 0.5, "r", PATH),)),
        (
            Verdict(ErrorType.JUDGE, "o", 0.5, "r", PATH),
            (PieceLoss("tea", ErrorType.JUDGE, None, 0.5, "r", PATH, reached=True),),
        ),
    ],
)
def test_the_only_piece_of_a_verdict_without_pieces(verdict: Verdict, losses: tuple[PieceLoss, ...]) -> None:
    assert own_loss(verdict) == losses


def test_a_verdict_that_is_not_sure_enough_becomes_a_candidate() -> None:
    found = unsure(WHOLE, 0.8)
    assert (found.error_type, found.operation_id, found.confidence, found.path) == (None, None, 0.0, ())
    assert "0.75, not 0.80" in found.reason
    first = CandidateVerdict(ErrorType.RETRIEVAL, "o", 0.75, "not returned")
    assert found.candidates == (first, *WHOLE.candidates)
    assert (found.losses, found.usage) == (WHOLE.losses, WHOLE.usage)
    assert unsure(found, 0.9) is found


@pytest.mark.parametrize(
    ("verdict", "failed"),
    [
        (failed_attempt("no server"), True),
        (abstention("no evidence"), False),
        (abstention("x", details={"failed": False}), False),
        (abstention("x", details={"note": '"failed": true'}), False),
        (Verdict(ErrorType.UPDATE, "o", 0.5, "r", details={"failed": True}), False),
    ],
)
def test_a_failed_attempt(verdict: Verdict, failed: bool) -> None:
    assert has_failed(to_attribution(verdict, failure(), Method.LLM, "")) is failed


def given(name: str, verdict: Verdict, gold: tuple[str, ...] | None = None, **more: Any) -> Attribution:
    details = verdict.details | ({} if gold is None else gold_mark(failure(*gold)))
    return replace(to_attribution(replace(verdict, details=details), failure(), Method.FLOW, name), id=name, **more)


BLAME = Verdict(ErrorType.UPDATE, "o", 0.5, "r")
BY_MODEL = replace(BLAME, model="m")
IN_ORDER = [
    given("on other gold answers, by a person", BLAME, ("old",), method=HUMAN_METHOD, author="Ada"),
    given("failed", failed_attempt("no server")),
    given("a model's abstention", abstention("?", model="m")),
    given("the free pass", BLAME),
    given("a model", BY_MODEL),
    given("a person", BLAME, method=HUMAN_METHOD, author="Ada"),
]


@pytest.mark.parametrize("better", range(1, len(IN_ORDER)))
def test_the_verdict_that_counts(better: int) -> None:
    subject = failure("new")
    for pair in (IN_ORDER[: better + 1], IN_ORDER[better::-1]):
        assert word_on(pair, [subject])[subject.id].id == IN_ORDER[better].id


def test_the_final_word_counts_before_all_others() -> None:
    subject = failure("new")
    last = given(adjudication_id(subject.id), BLAME, method=HUMAN_METHOD, author="Ben")
    for pair in ([IN_ORDER[-1], last], [last, IN_ORDER[-1]]):
        assert word_on(pair, [subject])[subject.id] is last


@pytest.mark.parametrize("one", IN_ORDER, ids=lambda one: one.id)
def test_among_equals_the_newest_counts(one: Attribution) -> None:
    subject = failure("new")
    assert word_on([one, replace(one, id="newer")], [subject])[subject.id].id == "newer"


def test_the_free_pass_s_abstention_counts_as_its_verdict() -> None:
    subject = failure()
    silent = given("silent", abstention("a hole"))
    assert word_on([given("blame", BLAME), silent], [subject])[subject.id].id == "silent"
    assert word_on([], [subject]) == {}


@pytest.mark.parametrize(
    ("marked", "now", "is_earlier"),
    [
        (None, ("a",), False),
        (("a",), ("a",), False),
        (("a",), ("b",), True),
        (("a", "b"), ("b", "a"), True),
        ((), ("a",), True),
        ((), (), False),
    ],
)
def test_a_verdict_on_earlier_gold_answers(
    marked: tuple[str, ...] | None, now: tuple[str, ...], is_earlier: bool
) -> None:
    verdict = given("v", BLAME, marked)
    assert on_earlier_gold(verdict, failure(*now)) is is_earlier
    assert gold_mark_of(verdict) == ({} if marked is None else gold_mark(failure(*marked)))


DIGEST = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    ("id_", "shown"),
    [
        ("message-3@1", "message-3@1"),
        (f"facts:list:{DIGEST}@1", "facts:list:…@1"),
        ("b306a8e5-bde9-40ef-87c3-ad12307ce812", "…"),
        ("0123456789ab", "0123456789ab"),
        ("0123456789abcdef", "…"),
    ],
)
def test_digests_are_no_names(id_: str, shown: str) -> None:
    assert plain(id_) == shown


@pytest.mark.parametrize(
    ("external_id", "name", "text", "own", "label"),
    [
        ("unit@2", "unit", "text", "unit", "unit@2"),
        (DIGEST, "unit", "text", "unit", "unit@3"),
        (DIGEST, "search output", "text", None, "text"),
        (DIGEST, "MEMORYUNIT", "text", None, "text"),
        (DIGEST, DIGEST, "x" * 100, None, None),
        (DIGEST, DIGEST, "", None, "MemoryUnit"),
    ],
)
def test_what_a_variable_is_called(external_id: str, name: str, text: str, own: str | None, label: str | None) -> None:
    variable = TraceBuilder("p").variable(external_id, text, name=name, version=3, kind=VariableKind.MEMORY_UNIT)
    assert given_name(variable) == own
    shown = variable_label(variable)
    assert shown == label or (label is None and len(shown) <= 60 and shown.startswith("xxx"))


@pytest.mark.parametrize(
    ("name", "category", "operation", "session"),
    [
        ("n", "c", "n", "n, session 1"),
        (None, "c", "c", "c, session 1"),
        ("", "c", "c", "c, session 1"),
        (None, None, "Update", "session 1"),
    ],
)
def test_what_operations_and_sessions_are_called(
    name: str | None, category: str | None, operation: str, session: str
) -> None:
    trace = TraceBuilder("p")
    assert operation_label(trace.operation("o", name=name, category=category, kind=OperationKind.UPDATE)) == operation
    assert session_label(trace.session("s", name=name, category=category)) == session


def test_a_lost_day_is_read_from_the_reason() -> None:
    day = date(2023, 1, 27).toordinal()
    assert written(day) == "27 January 2023"
    reason = day_lost(day)
    for said in (reason, f"{reason}.", f"{reason[0].upper()}{reason[1:]}."):
        assert lost_day(said) == "27 January 2023"
    others = [day_lost(None), "another reason, which was said on 1 May 2023", "", None]
    assert [lost_day(other) for other in others] == [""] * 4


def test_costs_add_up() -> None:
    assert Usage(1, 2, 3, 0.5) + Usage(10, 20, 30, 0.25) == Usage(11, 22, 33, 0.75)
    assert json.loads(to_attribution(WHOLE, failure(), Method.FLOW, "").attributes)["usage"] == {
        "input_tokens": 10,
        "output_tokens": 5,
        "calls": 2,
        "cost": 0.5,
    }
