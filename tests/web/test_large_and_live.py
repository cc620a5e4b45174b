"""Pages over HTTP: a trace that is being recorded, failures by confidence, and rankings that are too large."""

from __future__ import annotations

import asyncio
import html
import re
from datetime import UTC, datetime, timedelta
from secrets import token_hex

import pytest
from playwright.async_api import Browser, expect

from api.graphql.blaming import MAX_FAILURES
from schema.ids import make_id
from schema.kinds import ErrorType, OperationKind, Status, VariableKind
from store.open import open_database
from tests.factory import TraceBuilder
from tests.graphql.world import World
from tests.web.looking import looking
from tests.web.test_doors import visitor


def _write(lone: World, *traces: TraceBuilder) -> None:
    async def write() -> None:
        async with await open_database(lone.server.place.store) as database:
            for trace in traces:
                await trace.write(database.project(trace.project))

    asyncio.run(write())


def _text(lone: World, project: str, rest: str = "") -> str:
    with visitor(lone.server, lone.server.key("reader", project)) as client:
        answer = client.get(f"/ui/projects/{project}{rest}")
    assert answer.status_code == 200, answer.text
    return answer.text


def test_the_overview_marks_a_trace_in_which_something_runs(lone: World) -> None:
    project = f"test-{token_hex(8)}"
    ended, running = TraceBuilder(project, "ended"), TraceBuilder(project, "running")
    now = datetime.now(UTC)
    for trace, more in ((ended, {}), (running, {"status": Status.RUNNING, "started_at": now, "ended_at": None})):
        trace.operation("step", kind=OperationKind.UPDATE, **more)
    _write(lone, ended)
    assert "● live" not in _text(lone, project)
    _write(lone, running)
    text = _text(lone, project)
    assert text.count("● live") == 1
    row = next(part for part in text.split("<tr>") if "● live" in part)
    assert running.trace.id in row
    assert "1 trace here is being recorded" in text
    assert "data-live" in text
    stopped = _text(lone, project, "?live=0")
    assert "1 trace here is being recorded" in stopped
    assert "data-live" not in stopped
    assert "live.js" not in stopped


def test_a_trace_counts_as_live_for_half_a_minute_after_its_last_operation(lone: World) -> None:
    project, now = f"test-{token_hex(8)}", datetime.now(UTC)
    for name, seconds, is_live in (("long ago", 40, False), ("just now", 1, True)):
        trace = TraceBuilder(project, name)
        for number in range(12):
            at = now - timedelta(seconds=seconds + 1 - number / 12)
            trace.operation(f"o{number}", started_at=at, ended_at=at)
        trace.failure(trace.variable("q", "What?", kind=VariableKind.QUERY))
        _write(lone, trace)
        for page in ("", "/failures", f"/traces/{trace.trace.id}"):
            assert ("data-live" in _text(lone, project, page)) is is_live, page
        assert _text(lone, project, "/failures").count("● live") == is_live


@pytest.mark.parametrize(("hours", "is_live"), [(0.5, True), (2, False)])
def test_an_operation_without_an_end_makes_a_trace_live_for_an_hour(lone: World, hours: float, is_live: bool) -> None:
    project, at = f"test-{token_hex(8)}", datetime.now(UTC) - timedelta(hours=hours)
    trace = TraceBuilder(project, "stopped")
    trace.operation("o", status=Status.RUNNING, started_at=at, ended_at=None)
    _write(lone, trace)
    assert ("data-live" in _text(lone, project, f"/traces/{trace.trace.id}")) is is_live


def test_the_overview_says_what_to_change_first(lone: World) -> None:
    text = _text(lone, lone.project)
    section = text.partition('aria-labelledby="change"')[2].partition("</section>")[0]
    levers = lone.ask(
        'query($p: String!) { project(name: $p) { levers(source: "flow", first: 5) { name failures locations } } }',
        {"p": lone.project},
    )["project"]["levers"]
    assert levers
    rows = section.split("<li>")[1:]
    for lever, row in zip(levers, rows, strict=True):
        shown = re.sub("<[^>]+>", "", row)
        assert lever["name"] is None or lever["name"] in shown
        assert re.search(rf"\b{lever['failures']} failures?\b", shown)
        assert all(place in shown for place in lever["locations"])
    operation = next(row for row in rows if "/failures?operation=" in row)
    address = html.unescape(re.findall(r'href="([^"]+)"', operation)[0])
    assert "method=flow" in address
    assert _text(lone, lone.project, address.removeprefix(f"/ui/projects/{lone.project}")).count('class="case"') >= 1
    assert "What to change first" not in _text(lone, f"empty-{token_hex(4)}")


def test_a_project_without_data_shows_the_ways_in(lone: World) -> None:
    text = _text(lone, f"empty-{token_hex(4)}")
    for way in ("memtrace run -- python app.py", "memtrace import FILE", "OTEL_EXPORTER_OTLP_ENDPOINT="):
        assert way in text
    assert f"MEMTRACE_ENDPOINT={lone.server.url} " in text


async def test_what_was_not_chosen_comes_by_itself_in_a_large_trace(browser: Browser, lone: World) -> None:
    project = f"test-{token_hex(8)}"
    trace = TraceBuilder(project, "large")
    said = trace.variable("m", "The class is on Thursday.", kind=VariableKind.MESSAGE)
    for number in range(5001):
        trace.variable(f"other-{number}", "beside")
    question = trace.variable("q", "On which day is the class?", kind=VariableKind.QUERY)
    answer = trace.variable("a", "I don't know.", kind=VariableKind.ANSWER)
    failure = trace.failure(question, answer, gold_answers=("Thursday",), evidence_ids=(said.id,))
    await asyncio.to_thread(_write, lone, trace)
    page = f"/ui/projects/{project}/failures/{failure.id}"
    key = lone.server.key("reader", project)
    with visitor(lone.server, key) as client:
        plain = client.get(page).text
    assert "data-later" in plain
    async with looking(browser, lone.server) as found:
        await found.goto(f"/ui/sign-in?next={page}")
        await found.sign_in(key)
        await found.is_at(page)
        await expect(found.page.locator("[data-later]")).to_have_count(0)


def test_one_bar_is_no_chart(lone: World) -> None:
    project = f"test-{token_hex(8)}"
    trace = TraceBuilder(project, "one bar")
    failure = trace.failure(trace.variable("q", "What?", kind=VariableKind.QUERY))
    trace.attribution(failure, "flow", error_type=ErrorType.UPDATE)
    _write(lone, trace)
    text = _text(lone, project)
    assert 'class="chart' not in text
    assert 'class="bars"' not in text
    assert "type=UpdateError" in text


def test_calls_of_one_operation_are_one_row_that_opens(lone: World) -> None:
    project = f"test-{token_hex(8)}"
    trace = TraceBuilder(project, "calls")
    calls = [trace.operation(f"call-{number}", name="extract", kind=OperationKind.EXTRACTION) for number in range(3)]
    for number, call in enumerate(calls):
        failure = trace.failure(trace.variable(f"q{number}", f"What is {number}?", kind=VariableKind.QUERY))
        trace.attribution(failure, "flow", error_type=ErrorType.EXTRACTION, operation_id=call.id, confidence=0.5)
    _write(lone, trace)
    closed, opened = _text(lone, project, "/blame"), _text(lone, project, "/blame?calls=extract")
    assert [call.id in closed for call in calls] == [False, False, False]
    assert ">1.50<" in closed
    assert [call.id in opened for call in calls] == [True, True, True]
    assert opened.count(">0.50<") == 3


def test_a_verdict_is_called_right_beside_its_sentence(lone: World) -> None:
    project = f"test-{token_hex(8)}"
    trace = TraceBuilder(project, "right")
    call = trace.operation("call", name="extract", kind=OperationKind.EXTRACTION)
    failure = trace.failure(trace.variable("q", "What?", kind=VariableKind.QUERY))
    trace.attribution(failure, "flow", error_type=ErrorType.EXTRACTION, operation_id=call.id, confidence=0.5)
    _write(lone, trace)
    page = f"/ui/projects/{project}/failures/{failure.id}"
    with visitor(lone.server, lone.server.key("writer", project)) as client:
        form = client.get(page).text.partition('class="agree"')[2].partition("</form>")[0]
        fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
        assert fields == {"type": "ExtractionError", "operation": call.id, "from": "top"}
        answer = client.post(
            f"{page}/verdict", data=fields, headers={"Origin": lone.server.url}, follow_redirects=False
        )
        assert answer.headers["location"] == f"{page}?saved=1"
        assert "You say that this is right" in client.get(page).text
    assert "<button>✓ Right verdict</button>" not in _text(lone, project, f"/failures/{failure.id}")


def test_a_failure_that_several_people_judged_counts_once(lone: World) -> None:
    project = f"test-{token_hex(8)}"
    trace = TraceBuilder(project, "judged")
    for place in range(3):
        failure = trace.failure(trace.variable(f"q{place}", f"What is {place}?", kind=VariableKind.QUERY))
        for author, kind in (("Ada", ErrorType.ANNOTATION), ("Ben", ErrorType.JUDGE))[:place]:
            trace.attribution(failure, "human", id=make_id(author, failure.id), author=author, error_type=kind)
    _write(lone, trace)
    tile = re.sub("<[^>]+>", " ", _text(lone, project).partition("Judged by people")[2].partition("</dd>")[0])
    assert tile.split() == ["2"]


def test_failures_are_found_by_how_sure_a_verdict_is(lone: World) -> None:
    project = f"test-{token_hex(8)}"
    trace = TraceBuilder(project, "sure")
    for place, confidence in enumerate((0.2, 0.5, 0.6, 0.9, None)):
        question = trace.variable(f"q{place}", f"What is {place}?", kind=VariableKind.QUERY)
        trace.attribution(trace.failure(question), "flow", confidence=confidence)
    _write(lone, trace)
    for sure, count in (("low", 2), ("middle", 2), ("high", 1), ("nonsense", 5)):
        text = _text(lone, project, f"/failures?sure={sure}")
        assert text.count('<li class="case"') == count, sure


def test_a_value_of_20_mb_opens_in_parts(lone: World) -> None:
    project = f"test-{token_hex(8)}"
    trace = TraceBuilder(project, "large value")
    line = "<script>alert(1)</script> \u202e said </pre> "
    whole = f"{line * (20_000_000 // len(line.encode()))}the end"
    large = trace.variable("large", whole, kind=VariableKind.PROMPT)
    _write(lone, trace)
    for query in ("", f"?offset={len(whole) - 100}", f"?find={'x' * 100}"):
        text = _text(lone, project, f"/variables/{large.id}{query}")
        assert len(text) < 500_000
        assert "alert(1)" in text
        assert "<script>alert" not in text
        assert "\u202e" not in text
        assert ("the end" in text) is query.startswith("?offset")


@pytest.mark.full
def test_more_failures_than_can_be_ranked_are_counted(lone: World) -> None:
    project = f"test-{token_hex(8)}"
    trace = TraceBuilder(project, "large")
    operation = trace.operation("step", name="search", kind=OperationKind.RETRIEVAL)
    for place in range(MAX_FAILURES + 1):
        failure = trace.failure(trace.variable(f"q{place}", "What?", kind=VariableKind.QUERY))
        if place < 7:
            trace.attribution(failure, "flow", operation_id=operation.id)
    _write(lone, trace)
    for by in ("operation", "unit"):
        text = _text(lone, project, f"/blame?by={by}")
        assert "too large to rank" in text
        assert text.count("/failures?operation=search") == 1
        assert ">7</a>" in text
    asked = {"query": f'{{ project(name: "{project}") {{ blame {{ id }} levers {{ failures }} }} }}'}
    with lone.server.client("reader", project) as client:
        errors = client.post("/graphql", json=asked).json()["errors"]
    assert {error["extensions"]["code"] for error in errors} == {"TOO_LARGE"}
    assert all(f"more than {MAX_FAILURES:,} failures: name a trace" in error["message"] for error in errors)
    text = _text(lone, project)
    assert "There are too many failures to say this while a page waits" in text
