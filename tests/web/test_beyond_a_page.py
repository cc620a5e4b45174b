"""Values that are too large for a page: the page explains this, and offers the value as a file."""

from __future__ import annotations

import asyncio
import html
import re
from dataclasses import dataclass
from secrets import token_hex
from urllib.parse import quote

import httpx
import pytest
from playwright.async_api import Browser, expect

from schema.kinds import ErrorType, OperationKind, VariableKind
from schema.models import Variable
from tests.factory import TraceBuilder
from tests.server.running import RunningServer
from tests.web.looking import looking
from tests.web.test_doors import visitor

pytestmark = pytest.mark.one_engine

_BYTES = 30 << 20
_QUOTE = "Ana lives in Porto."
_GOLD = "Lisbon"
_WORK_IT_OUT = (
    "The trace is too large for this to be worked out while a page waits. The command memtrace why-not {} does it."
)


@dataclass(frozen=True)
class Large:
    """A project with a memory unit and an answer that are too large for a page.

    Attributes:
        base: the beginning of the addresses of its pages.
        key: opens the pages.
        saved: the value of the newest version of the unit.
    """

    server: RunningServer
    base: str
    key: str
    ids: dict[str, str]
    saved: str

    def client(self) -> httpx.Client:
        """A client that is signed in."""
        return visitor(self.server, self.key)


def _grown(line: str) -> str:
    """Many lines, with the quote at the end."""
    return f"{line}\n" * (_BYTES // (len(line) + 1)) + _QUOTE


@pytest.fixture(scope="module")
def large(server: RunningServer) -> Large:
    project = f"large-{token_hex(4)}"
    trace = TraceBuilder(project, "large values")
    trace.session("talk")
    message = trace.variable("message", _grown("said <script>alert(1)</script>"), kind=VariableKind.MESSAGE)
    versions: list[Variable] = []
    for number, line in enumerate(("the first line", "another line"), 1):
        update = trace.operation(f"update-{number}", name="remember", kind=OperationKind.UPDATE)
        before = versions[-1:]
        unit = trace.variable(
            f"home@{number}",
            _grown(line),
            update,
            name="home",
            version=number,
            revision_of=before[0].id if before else None,
        )
        trace.use(update, message, *before)
        trace.derive(unit, message, *before, by=update)
        versions.append(unit)
    asked = trace.variable("question", "Where does Ana live?", kind=VariableKind.QUERY)
    answering = trace.operation("answer", name="answer", kind=OperationKind.GENERATION)
    trace.use(answering, asked, versions[-1])
    answer = trace.variable("answer", _grown("I believe that"), answering, kind=VariableKind.ANSWER)
    trace.derive(answer, asked, versions[-1], by=answering)
    failure = trace.failure(asked, answer, prediction="Porto", gold_answers=(_GOLD,), evidence_ids=(message.id,))
    trace.attribution(failure, "flow", error_type=ErrorType.UPDATE, operation_id=trace.operations[0].id)

    async def write() -> None:
        async with await server.place.opened() as database:
            await trace.write(database.project(project))

    asyncio.run(write())
    ids = {
        "trace": trace.trace.id,
        "message": message.id,
        "before": versions[0].id,
        "unit": versions[1].id,
        "answer": answer.id,
        "failure": failure.id,
    }
    saved = trace.texts[versions[1].value_hash]
    return Large(server, f"/ui/projects/{project}", server.key("writer", project), ids, saved)


def _told(text: str) -> list[str]:
    """The notes on a page."""
    notes = re.findall(r'<p class="note">(.*?)</p>', text, re.DOTALL)
    return [html.unescape(re.sub("<[^>]+>", "", one)) for one in notes]


def test_every_page_says_what_it_does_not_open(large: Large) -> None:
    ids, base = large.ids, large.base
    pages = {
        f"/variables/{ids['unit']}": "This value has 31.5 MB. A page opens values of up to 25.2 MB.",
        f"/variables/{ids['unit']}?offset=20000": "This value has 31.5 MB.",
        f"/variables/{ids['unit']}?find={_QUOTE}": "This value has 31.5 MB.",
        f"/variables/{ids['message']}": "This value has 31.5 MB.",
        f"/variables/{ids['unit']}?compare={ids['before']}": "version 1 has 31.5 MB, version 2 has 31.5 MB",
        f"/traces/{ids['trace']}/memory?unit={ids['unit']}": "too large, or too different, to be compared",
        f"/traces/{ids['trace']}/memory": None,
        f"/traces/{ids['trace']}": None,
        f"/traces/{ids['trace']}?show=units": None,
        f"/failures/{ids['failure']}": _WORK_IT_OUT.format(ids["failure"]),
        f"/failures/{ids['failure']}?why=1": _WORK_IT_OUT.format(ids["failure"]),
        f"/variables/{ids['answer']}/graph": None,
        f"/variables/{ids['message']}/impact": None,
        f"/compare?before={ids['trace']}&after={ids['trace']}&show=stillWrong": None,
        "/compare?by=methods&before=flow&after=flow&show=notCompared": None,
        "/failures": None,
        "/blame?by=unit": None,
        "/search?text=line": None,
        "": None,
    }
    with large.client() as client:
        for page, told in pages.items():
            answer = client.get(f"{base}{page}", timeout=600)
            assert answer.status_code == 200, (page, answer.text)
            assert len(answer.text) < 500_000, page
            assert "<script>alert" not in answer.text
            if told is not None:
                assert any(told in one for one in _told(answer.text)), (page, _told(answer.text))
            if told is not None and not page.startswith("/failures/"):
                shown = ids["message"] if ids["message"] in page else ids["unit"]
                assert f"/variables/{shown}/value" in answer.text, page


def test_it_is_saved_whole(large: Large) -> None:
    with large.client() as client:
        answer = client.get(f"{large.base}/variables/{large.ids['unit']}/value", timeout=600)
    assert answer.text == large.saved
    with large.server.client("reader", large.base.rpartition("/")[2]) as client:
        assert client.get(f"/v1/values/{large.ids['unit']}", timeout=600).text == large.saved


def test_what_is_no_version_is_still_an_error(large: Large) -> None:
    with large.client() as client:
        page = f"{large.base}/variables/{large.ids['unit']}"
        assert client.get(f"{page}?compare={'0' * 32}").status_code == 404
        assert client.get(f"{large.base}/traces/{large.ids['trace']}/memory?unit={'0' * 32}").status_code == 404


async def test_it_is_saved_from_the_page(browser: Browser, large: Large) -> None:
    async with looking(browser, large.server) as found:
        await found.goto(f"/ui/sign-in?next={large.base}")
        await found.sign_in(large.key)
        await found.is_at(large.base)
        await found.goto(f"{large.base}/variables/{large.ids['unit']}?find={quote(_QUOTE)}")
        page = found.page
        await expect(page.get_by_text("This value has 31.5 MB")).to_be_visible()
        await expect(page.locator("#found")).to_have_text(_QUOTE)
        await expect(page.locator("pre.value")).to_contain_text("another line")
        async with page.expect_download() as download:
            await page.get_by_role("link", name="Save as a file").click()
        path = await (await download.value).path()
        assert path.read_text("utf-8") == large.saved
        await page.get_by_role("link", name="what differs").click()
        await expect(page.get_by_text("compare them with a program")).to_be_visible()
        for version in (1, 2):
            await expect(page.get_by_role("link", name=f"Save version {version} as a file")).to_be_visible()
