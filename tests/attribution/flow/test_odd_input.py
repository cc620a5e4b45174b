"""Failures and traces that are not as they should be: clear abstentions or right verdicts, never a crash."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from attribution.run import Options, attribute
from attribution.verdicts.stored import word_on
from attribution.verdicts.verdict import Method, has_failed
from schema.errors import InputError, NotFoundError
from schema.kinds import ErrorType, OperationKind, VariableKind
from schema.models import Attribution, Failure
from store.contract.protocol import Database
from store.open import open_database
from tests.attribution.flow.stories import Story
from tests.attribution.flow.test_rules import GOLD, KNOWN, OTHER, QUESTION, SAID, response, retrieval
from tests.factory import TraceBuilder


@pytest_asyncio.fixture
async def embedded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    async with await open_database(f"sqlite:///{tmp_path_factory.mktemp('odd') / 'odd.db'}") as opened:
        yield opened


async def verdicts(embedded: Database, trace: TraceBuilder, *failures: Failure) -> list[Attribution]:
    store = embedded.project("rules")
    await trace.write(store)
    return [outcome.attribution async for outcome in attribute(store, failures, Options())]


async def test_a_failure_without_prediction(embedded: Database) -> None:
    told, failure = retrieval()
    (one,) = await verdicts(embedded, told.trace, replace(failure, prediction=None))
    assert one.error_type is ErrorType.RETRIEVAL


async def test_a_failure_without_answer(embedded: Database) -> None:
    told, failure = retrieval()
    (one,) = await verdicts(embedded, told.trace, replace(failure, answer_id=None, prediction=None))
    assert one.error_type is None
    assert "no answer" in (one.reason or "")


async def test_evidence_of_another_trace_is_searched_for_instead(embedded: Database) -> None:
    told, failure = retrieval()
    other = Story.of("rules", "Elsewhere.", name="other")
    (one,) = await verdicts(embedded, told.trace, replace(failure, evidence_ids=(other.evidence[0].id,)))
    assert one.error_type is ErrorType.RETRIEVAL


async def test_a_trace_without_messages(embedded: Database) -> None:
    told = Story.of("rules", name="silent")
    failure = told.ask(QUESTION, GOLD, "No.", [], evidence=None)
    (one,) = await verdicts(embedded, told.trace, failure)
    assert one.error_type is None
    assert "no messages" in (one.reason or "")
    assert 'memtrace.variable(..., kind="Message")' in (one.reason or "")


async def test_a_trace_that_was_cut_off(embedded: Database) -> None:
    told = Story.of("rules", KNOWN, OTHER, name="cut")
    query = told.trace.variable("question", QUESTION, kind=VariableKind.QUERY)
    answer = told.trace.variable("answer", "No.", kind=VariableKind.ANSWER)
    failure = told.trace.failure(query, answer, gold_answers=(GOLD,), evidence_ids=(told.evidence[0].id,))
    (one,) = await verdicts(embedded, told.trace, failure)
    assert one.error_type is None
    assert "no operation is recorded" in (one.reason or "")
    assert 'output="Answer"' in (one.reason or "")


async def test_an_unknown_trace(embedded: Database) -> None:
    _, failure = retrieval()
    store = embedded.project("nobody")
    with pytest.raises(NotFoundError):
        [outcome async for outcome in attribute(store, [failure], Options())]


async def test_a_method_that_needs_a_model(embedded: Database) -> None:
    with pytest.raises(InputError, match="MEMTRACE_LLM_MODEL"):
        [outcome async for outcome in attribute(embedded.project("rules"), [], Options(Method.LLM))]


@pytest.mark.parametrize("end", ["\n", " "], ids=["lines", "one-line"])
async def test_a_value_of_20_mb(embedded: Database, end: str) -> None:
    told = Story.of("rules", SAID, OTHER, name="large")
    noise = end.join(f"entry {number} nothing of interest was said" for number in range(480_000))
    assert len(noise) > 20_000_000
    unit = told.store(0, KNOWN, f"{noise}{end}{KNOWN}{end}")
    (one,) = await verdicts(embedded, told.trace, told.ask(QUESTION, GOLD, "No idea.", [unit]))
    assert one.error_type is ErrorType.RESPONSE


LANGUAGES = {
    "chinese": (
        "我们去年在昆明买了一只灰鹦鹉,名叫洪堡。",
        "港口的起重机这周坏了两次。",
        "我们家的鹦鹉叫什么名字?",
        "洪堡",
    ),
    "arabic": (
        "اشترينا ببغاء رماديا اسمه همبولت في الربيع.",
        "تعطلت الرافعة في الميناء مرتين.",
        "ما اسم الببغاء؟",
        "همبولت",
    ),
    "russian": (
        "Весной мы завели серого попугая по имени Гумбольдт.",
        "Кран в порту сломался.",
        "Как зовут попугая?",
        "Гумбольдт",
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_other_languages(embedded: Database, language: str) -> None:
    said, other, question, gold = LANGUAGES[language]
    lost = Story.of("rules", said, other, name=f"lost-{language}")
    lost.store(0, said)
    search = lost.ask(question, gold, "?", [lost.store(1, other, key="other")])
    (one,) = await verdicts(embedded, lost.trace, search)
    assert one.error_type is ErrorType.RETRIEVAL
    right = Story.of("rules", said, other, name=f"right-{language}")
    (one,) = await verdicts(embedded, right.trace, right.ask(question, gold, gold, [right.store(0, said)]))
    assert one.error_type is ErrorType.JUDGE


async def test_labels_are_not_looked_at(embedded: Database) -> None:
    told, failure = response()
    misled = replace(failure, attributes='{"annotations":[{"record":{"final_error_type":"UpdateError"}}]}')
    (one,) = await verdicts(embedded, told.trace, misled)
    assert one.error_type is ErrorType.RESPONSE


async def test_one_case_does_not_end_the_others(embedded: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    from attribution.free_pass import needs
    from attribution.needed import evidence_sentences

    told, failure = retrieval()
    other = Story.of("rules", KNOWN, OTHER, name="other")
    second = other.ask(QUESTION, GOLD, "Darwin", [other.store(0, KNOWN)])
    store = embedded.project("rules")
    await other.trace.write(store)
    whole = evidence_sentences.best_detail

    def broken(messages: object, one: Failure, *more: object) -> object:
        if one.id == failure.id:
            raise RuntimeError("a secret value")
        return whole(messages, one, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(needs, "best_detail", broken)
    first, after = await verdicts(embedded, told.trace, failure, second)
    assert first.error_type is None
    assert first.reason == "attribution failed (RuntimeError)"
    assert after.error_type is ErrorType.RESPONSE
    assert [has_failed(one) for one in (first, after)] == [True, False]
    # A failed attempt is no verdict: the next run tries again, and an earlier verdict still counts.
    monkeypatch.undo()
    again = [one async for one in attribute(store, [failure, second], Options())]
    assert {one.failure.id: (one.cached, one.attribution.error_type) for one in again} == {
        failure.id: (False, ErrorType.RETRIEVAL),
        second.id: (True, ErrorType.RESPONSE),
    }
    assert word_on([again[0].attribution, first], [failure])[failure.id].error_type is ErrorType.RETRIEVAL


async def test_the_same_again_is_found_and_more_of_the_trace_is_not(embedded: Database) -> None:
    told, failure = retrieval()
    store = embedded.project("rules")
    await told.trace.write(store)
    first = [one async for one in attribute(store, [failure], Options())]
    again = [one async for one in attribute(store, [failure], Options())]
    assert [one.cached for one in first + again] == [False, True]
    assert again[0].attribution == first[0].attribution
    told.step("later", OperationKind.TOOL, [told.evidence[1]], ("note", "a note", VariableKind.OTHER))
    await told.trace.write(store)
    later = [one async for one in attribute(store, [failure], Options())]
    assert not later[0].cached
    stored = await store.attributions([failure.id])
    assert len(stored) == 2


async def test_a_run_that_was_stopped_goes_on(embedded: Database) -> None:
    told, failure = retrieval()
    store = embedded.project("rules")
    await told.trace.write(store)
    run = attribute(store, [failure, replace(failure, id="0" * 32)], Options())
    await anext(run)
    await run.aclose()
    assert (await store.attributions([failure.id]))[0].error_type is ErrorType.RETRIEVAL
    assert [one.cached async for one in attribute(store, [failure], Options())] == [True]
