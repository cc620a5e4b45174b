"""Scripts in every stored text, on every page and in the report, in a real browser: none runs, all are shown."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from secrets import token_hex

import pytest
from playwright.async_api import Browser, Page

from schema.kinds import ErrorType, OperationKind, Status, VariableKind
from tests.factory import TraceBuilder
from tests.graphql.world import World
from tests.server.running import RunningServer
from tests.web.addresses import OWN, addresses
from tests.web.looking import looking

pytestmark = pytest.mark.one_engine

_HOOK = """for (const name of ["ran", "alert", "prompt", "confirm"])
    window[name] = () => { console.error("a stored script ran"); };"""
_RUNNING = (
    "</title></textarea></style></script><script>ran()</script>",
    "\"><img src=x onerror=ran()>' onmouseover='ran()' autofocus onfocus='ran()' x='",
    "<svg onload=ran()><a href=javascript:ran()>here</a></svg><iframe srcdoc='<script>parent.ran()</script>'></iframe>",
    "javascript:ran()//--><details open ontoggle=ran()><base href=//x.invalid/><meta http-equiv=refresh>",
)
_INJECTED = """[...document.querySelectorAll("*")].flatMap(one => [...one.attributes]
    .filter(({name, value}) => name.startsWith("on") || value.trim().toLowerCase().startsWith("javascript:"))
    .map(({name, value}) => `${one.tagName} ${name}=${value}`))
  .concat([...document.querySelectorAll("iframe, base, meta[http-equiv=refresh], img[src=x], details[ontoggle]")]
    .map(one => one.outerHTML))
  .concat([...document.scripts].filter(one => !one.src && one.textContent.includes("ran()"))
    .map(one => one.outerHTML))"""
_TEXT = "document.documentElement.innerText + [...document.querySelectorAll('input, textarea')].map(one => one.value)"


def _script(field: str) -> str:
    """A text that begins with the name of its field; each field has another script in turn."""
    return f"{field} {_RUNNING[sum(map(ord, field)) % len(_RUNNING)]}"


def _all_scripts(field: str) -> str:
    return " ".join((field, *_RUNNING))


def _trace(project: str) -> TraceBuilder:
    trace = TraceBuilder(project, _script("trace-id"))
    trace.trace = replace(trace.trace, name=_script("trace-name"), attributes=json.dumps({_script("k"): _script("v")}))
    more = json.dumps({_script("key"): _script("value"), "speaker": _script("speaker")})
    trace.session("one", name=_script("session"), category=_script("category"), comment=_script("comment"))
    said = trace.variable(
        _script("message-id"),
        _all_scripts("message"),
        name=_script("message-name"),
        class_name=_script("class"),
        category=_script("category"),
        comment=_script("variable-comment"),
        location=_script("location"),
        media_type="text/html",
        attributes=more,
        kind=VariableKind.MESSAGE,
    )
    error = {"type": _script("error-type"), "message": _script("error-message"), "stack": _all_scripts("stack")}
    keep = trace.operation(
        "keep",
        name=_script("operation"),
        category=_script("operation-category"),
        comment=_script("operation-comment"),
        location=_script("operation-location"),
        attributes=json.dumps({"error": error, _script("key"): _script("value")}),
        status=Status.ERROR,
        kind=OperationKind.EXTRACTION,
    )
    trace.use(keep, said, role=_script("role"))
    before = trace.variable("unit", _all_scripts("unit"), keep, name=_script("unit-name"))
    trace.derive(before, said, by=keep, comment=_script("edge"), category=_script("edge-category"))
    change = trace.operation("change", name=_script("change"), kind=OperationKind.UPDATE)
    unit = trace.variable(
        "unit@1", f"{_script('unit')} changed", change, name=_script("unit-name"), version=1, revision_of=before.id
    )
    trace.use(change, before)
    trace.derive(unit, before, by=change)
    failure = trace.wrong_answer(
        "it",
        question=_all_scripts("question"),
        read=unit,
        context=_all_scripts("context"),
        answer=_all_scripts("answer"),
        gold_answers=(_all_scripts("gold"), _script("other-gold")),
        evidence_ids=(said.id,),
        attributes=json.dumps({_script("label"): _script("label-value")}),
    )
    quote = {"variableId": said.id, "operationId": None, "link": "start", "quote": _script("quote"), "holds": True}
    candidate = {
        "errorType": "UpdateError",
        "operationId": change.id,
        "confidence": 0.1,
        "reason": _script("candidate"),
    }
    for method in ("flow", "human"):
        trace.attribution(
            failure,
            method,
            error_type=ErrorType.EXTRACTION,
            operation_id=keep.id,
            reason=_script(f"{method}-reason"),
            model=_script("model"),
            author=_script("author") if method == "human" else None,
            evidence=json.dumps([quote]),
            candidates=json.dumps([candidate]),
        )
    return trace


@pytest.fixture(scope="module")
def scripts(explorer: RunningServer) -> World:
    """A project whose texts are scripts; made by the store, by GraphQL, and by an upload."""
    project = f"scripts-{token_hex(4)}"
    trace = _trace(project)

    async def write() -> None:
        async with await explorer.place.opened() as database:
            await trace.write(database.project(project))

    asyncio.run(write())
    world = World(explorer, project, {})
    answer, (failure,) = trace.variables[-1], trace.failures
    world.ids.update(
        trace=trace.trace.id,
        failure=failure.id,
        unit=trace.variables[2].id,
        before=trace.variables[1].id,
        operation=trace.operations[0].id,
        message=trace.variables[0].id,
        answer=answer.id,
    )
    made = world.ask(
        """mutation($p: String!, $f: ID!, $o: ID!, $text: String!, $name: String!) {
          recordVerdict(project: $p, input: {failure: $f, errorType: UpdateError, operation: $o, reason: $text,
            also: [{errorType: AnnotationError}]}) { ... on Problem { message } }
          createKey(project: $p, name: $name, person: $name) { ... on Problem { message } }
          createAnnotationQueue(project: $p, input: {name: $name, annotators: 1, people: [$name]}) {
            ... on QueueChanged { queue { id } } ... on Problem { message } } }""",
        {
            "p": project,
            "f": failure.id,
            "o": trace.operations[1].id,
            "text": _all_scripts("own-reason"),
            "name": _script("name")[:100],
        },
        "admin",
    )
    assert made["recordVerdict"] == made["createKey"] == {}, made
    world.ids["queue"] = made["createAnnotationQueue"]["queue"]["id"]
    with explorer.client("writer", project) as client:
        sent = client.post(
            "/v1/import", params={"name": _script("file")}, content=b'{"graph_id": "<script>ran()</script>"}'
        )
    assert sent.status_code == 202, sent.text
    world.ids["job"] = sent.json()["id"]
    return world


async def _is_harmless(page: Page, where: str) -> str:
    """The text of a page, after a check that no stored text has become part of its structure."""
    await page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert await page.evaluate(_INJECTED) == [], where
    text: str = await page.evaluate(_TEXT)
    return text


async def test_the_check_sees_a_script_that_runs(browser: Browser, scripts: World) -> None:
    """Each text would run where it is not escaped."""
    context = await browser.new_context()
    await context.add_init_script(_HOOK)
    page = await context.new_page()
    told: list[str] = []
    page.on("console", lambda line: told.append(line.text))
    for text in _RUNNING:
        told.clear()
        await page.goto(f"{scripts.server.url}/healthz")
        await page.set_content(f'<input value="{text}">{text}')
        await page.wait_for_timeout(200)
        assert "a stored script ran" in told or await page.evaluate(_INJECTED) != [], text
    await context.close()


async def test_no_page_runs_a_stored_text(browser: Browser, scripts: World) -> None:
    shown: dict[str, str] = {}
    async with looking(browser, scripts.server, "status of 404") as found:
        await found.context.add_init_script(_HOOK)
        await found.goto("/ui/sign-in")
        await found.sign_in(scripts.server.key("admin", scripts.project))
        await found.is_at(f"/ui/projects/{scripts.project}")
        base = f"/ui/projects/{scripts.project}"
        pages = addresses(scripts) | OWN
        pages["failure-why"] = f"{base}/failures/{scripts.ids['failure']}?why=1"
        pages["search-script"] = f"{base}/search?text=script%3Eran"
        pages["failures-script"] = f"{base}/failures?text=%22%3E%3Cscript%3Eran()%3C/script%3E"
        for name, address in pages.items():
            answer = await found.goto(address)
            assert answer.status in {200, 404}, (name, answer.status)
            await found.page.mouse.move(300, 300)
            shown[name] = await _is_harmless(found.page, name)
    for name, fields in {
        "failure": ("question", "answer", "gold", "own-reason", "operation", "quote", "author"),
        "trace": ("trace-name", "operation", "session", "error-message"),
        "message": ("message", "variable-comment", "session"),
        "operation": ("operation", "operation-comment", "operation-location", "message"),
        "answers": ("answer", "question"),
        "failures": ("question", "operation"),
        "queues": ("name",),
        "settings": ("name",),
        "memory": ("unit",),
        "graph": ("answer",),
    }.items():
        assert [field for field in fields if f"{field} " not in shown[name]] == [], name
        assert "ran()" in shown[name], name


async def test_no_report_runs_a_stored_text(browser: Browser, scripts: World, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    command = ("report", "-o", str(path), "--project", scripts.project)
    done = await asyncio.to_thread(scripts.server.place.here, *command)
    assert done.returncode == 0, done.stderr
    context = await browser.new_context(offline=True)
    await context.add_init_script(_HOOK)
    page = await context.new_page()
    problems: list[str] = []
    page.on("console", lambda line: problems.append(line.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    await page.goto(path.as_uri())
    await _is_harmless(page, "report")
    assert problems == []
    text = await page.locator("body").text_content() or ""  # also what is out of view
    for field in ("question", "answer", "gold", "operation", "quote", "author"):
        assert f"{field} " in text
    assert "ran()" in text
    await context.close()
