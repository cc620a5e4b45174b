"""The explorer in a real browser: it sends requests only to this server, and obeys the policy of its page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex

from playwright.async_api import Browser, BrowserContext, Page, WebSocket, expect

from schema.ids import trace_id
from tests.server.running import RunningServer, running, sqlite_place
from tests.server.wire_events import arrives, lines, message, send

_PATIENCE_MS = 30_000
_NO_KEY = "Put in an API key"
_KEPT = "The key is kept in this tab alone"
_REFUSED = "The server does not take this key"
_REFUSED_LINES = {
    "Failed to load resource: the server responded with a status of 401 (Unauthorized)",
    (
        "Socket closed with event 4403 a valid API key or token is needed: "
        "a key is 63 characters that begin with mt_; 6 were sent"
    ),
}
_TOLD = """addEventListener("securitypolicyviolation", event => {
    console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`);
});"""


@dataclass
class Opened:
    """A page with its log.

    Attributes:
        asked: requested addresses, including websockets.
        posted: bodies of requests; empty for those without a body.
        said: messages on websockets.
        problems: messages of the console, errors of the page, and violations of its policy.
    """

    page: Page
    context: BrowserContext
    asked: list[str] = field(default_factory=list)
    posted: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    async def put_in(self, key: str) -> None:
        """Use a key."""
        await self.page.get_by_label("API key").fill(key)
        await self.page.get_by_role("button", name="Use this key").click()

    async def run(self, document: str) -> None:
        """Replace the document in the editor, and run its operation."""
        await self.page.locator(".graphiql-query-editor .CodeMirror").click()
        await self.page.keyboard.press("ControlOrMeta+a")
        await self.page.keyboard.insert_text(document)
        # GraphiQL waits a tenth of a second before it reads the operations, which is less than people need.
        await expect(self.page.get_by_role("tab", selected=True)).to_contain_text(document.split()[1])
        await self.page.get_by_role("button", name="Execute query").click()

    async def answers(self, *texts: str) -> None:
        """Wait until the answer contains these texts."""
        for text in texts:
            await expect(self.page.locator(".result-window")).to_contain_text(text, timeout=_PATIENCE_MS)

    async def tells(self, text: str) -> None:
        """Wait for this text in the line beside the key."""
        await expect(self.page.get_by_role("status").first).to_contain_text(text, timeout=_PATIENCE_MS)


@asynccontextmanager
async def opened(
    browser: Browser, server: RunningServer, expected: Callable[[str], bool] = lambda _: False
) -> AsyncIterator[Opened]:
    """Open the page; at the end check that it sent no request elsewhere and reported no problem.

    Args:
        browser: the program.
        server: serves the page.
        expected: whether a line of the console is expected.
    """
    context = await browser.new_context(viewport={"width": 1400, "height": 850})
    context.set_default_timeout(_PATIENCE_MS)
    await context.add_init_script(_TOLD)
    found = Opened(await context.new_page(), context)

    def socket(opened: WebSocket) -> None:
        found.asked.append(opened.url)
        opened.on("framesent", lambda text: found.said.append(str(text)))

    context.on("request", lambda request: found.asked.append(request.url))
    context.on("request", lambda request: found.posted.append(request.post_data or ""))
    found.page.on("websocket", socket)
    found.page.on("console", lambda line: found.problems.append(line.text))
    found.page.on("pageerror", lambda error: found.problems.append(str(error)))
    await found.page.goto(f"{server.url}/graphql")
    yield found
    assert [line for line in found.problems if not expected(line)] == []
    ours = (f"{server.url}/graphql", f"{server.url.replace('http', 'ws', 1)}/graphql", "data:image/png")
    assert [url for url in found.asked if not url.startswith(ours)] == []
    await context.close()


async def test_a_query_is_run_with_a_key(browser: Browser, explorer: RunningServer) -> None:
    key = explorer.key()
    async with opened(browser, explorer) as found:
        page = found.page
        await found.tells(_NO_KEY)
        await expect(page.locator(".graphiql-query-editor")).to_contain_text("projects")
        assert not any(found.posted)
        await found.put_in(f" Bearer {key} ")
        await found.tells(_KEPT)
        await page.get_by_role("button", name="Execute query").click()
        await found.answers(explorer.project, "reader")
        # The editor knows the schema: it completes words, finds mistakes, and shows documentation.
        await page.get_by_role("button", name="Show Documentation Explorer").click()
        docs = page.locator(".graphiql-doc-explorer")
        await docs.get_by_role("link", name="Query", exact=True).click()
        await expect(docs).to_contain_text("viewer")
        await docs.get_by_role("link", name="viewer", exact=True).click()
        await found.run("query Unknown { nobodyKnowsThis }")
        await found.answers("Cannot query field 'nobodyKnowsThis'")
        await expect(page.locator(".graphiql-query-editor .CodeMirror-lint-mark-error").first).to_be_visible()
        assert not [url for url in found.asked if key in url]
        assert len([body for body in found.posted if "IntrospectionQuery" in body]) == 1


async def test_a_subscription_is_followed(browser: Browser, explorer: RunningServer) -> None:
    trace = f"watched-{token_hex(4)}"
    await asyncio.to_thread(send, explorer, lines(message(trace, "first")))
    await asyncio.to_thread(arrives, explorer, trace, 1)
    followed = trace_id(explorer.project, trace)
    async with opened(browser, explorer) as found:
        await found.put_in(explorer.key())
        await found.tells(_KEPT)
        await found.run(
            f'subscription Growth {{ traceGrowth(project: "{explorer.project}", id: "{followed}") {{ variables }} }}'
        )
        await found.answers('"variables": 1')
        await asyncio.to_thread(send, explorer, lines(message(trace, "second")))
        await found.answers('"variables": 2')
        await found.page.get_by_role("button", name="Stop query").click()
        await expect(found.page.get_by_role("button", name="Execute query")).to_be_visible()
        assert [url for url in found.asked if url.startswith("ws")] == [
            f"{explorer.url.replace('http', 'ws', 1)}/graphql"
        ]
        assert f'"authorization":"Bearer {explorer.key()}"' in found.said[0]


async def test_a_key_is_kept_in_its_tab_alone(browser: Browser, explorer: RunningServer) -> None:
    key = explorer.key()
    async with opened(browser, explorer) as found:
        page = found.page
        await found.put_in(key)
        await found.tells(_KEPT)
        await found.run("query Mine { viewer { actor } }")
        await found.answers("key:")
        await page.reload()
        await found.tells(_KEPT)
        await expect(page.locator(".graphiql-query-editor")).to_contain_text("Mine")
        assert await page.evaluate("localStorage.length") == 0
        assert await page.evaluate("document.cookie") == ""
        other = await found.context.new_page()
        await other.goto(f"{explorer.url}/graphql")
        await expect(other.get_by_role("status").first).to_contain_text(_NO_KEY)
        assert await other.evaluate("sessionStorage.getItem('memtrace.key')") is None
        await page.get_by_role("button", name="Forget it").click()
        await found.tells(_NO_KEY)
        assert await page.evaluate("sessionStorage.getItem('memtrace.key')") is None
        await expect(page.get_by_label("API key")).to_have_value("")
        asked = len(found.posted)
        await found.run("query Again { viewer { actor } }")
        await found.answers(_NO_KEY)
        assert len(found.posted) == asked


async def test_a_key_that_is_none_is_told(browser: Browser, explorer: RunningServer) -> None:
    async with opened(browser, explorer, _REFUSED_LINES.__contains__) as found:
        await found.put_in("mt_ключ")
        await found.tells("This is no key")
        await found.put_in("nobody")
        await found.tells(_REFUSED)
        assert len([body for body in found.posted if body]) == 1
        await found.run('subscription Growth { traceGrowth(project: "p", id: "i") { variables } }')
        await found.answers("4403")
        await found.put_in(explorer.key())
        await found.tells(_KEPT)


async def test_what_is_stored_calls_nobody(browser: Browser, explorer: RunningServer) -> None:
    """GraphiQL shows a picture if the mouse is over its address, but stored addresses may be hostile."""
    callers: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        callers.append((await reader.readline()).decode())
        writer.close()

    elsewhere = await asyncio.start_server(answer, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{elsewhere.sockets[0].getsockname()[1]}/picture.png"
    trace = f"hostile-{token_hex(4)}"
    await asyncio.to_thread(send, explorer, lines(message(trace, "first", address)))
    await asyncio.to_thread(arrives, explorer, trace, 1)
    async with elsewhere, opened(browser, explorer) as found:
        await found.put_in(explorer.key())
        await found.tells(_KEPT)
        await found.run(
            f'query Stored {{ project {{ trace(reference: "{trace}") {{ variables {{ nodes {{ preview }} }} }} }} }}'
        )
        await found.answers(address)
        await found.page.locator(".result-window .cm-string", has_text=address).hover()
        await expect(found.page.locator(".result-window img, .CodeMirror-info img").first).to_be_attached()
        async with asyncio.timeout(_PATIENCE_MS / 1000):
            while not callers and not [line for line in found.problems if line.startswith("policy: img-src")]:
                await asyncio.sleep(0.05)
        await found.page.wait_for_timeout(500)
        assert callers == []
        found.problems = [line for line in found.problems if address not in line]
        found.asked = [url for url in found.asked if url != address]


async def test_menus_and_dialogs_keep_the_rules(browser: Browser, explorer: RunningServer) -> None:
    async with opened(browser, explorer) as found:
        page = found.page
        await found.put_in(explorer.key())
        await found.tells(_KEPT)
        for name in ("Open settings dialog", "Open short keys dialog"):
            await page.get_by_role("button", name=name).click()
            await expect(page.get_by_role("dialog")).to_be_visible()
            await page.keyboard.press("Escape")
            await expect(page.get_by_role("dialog")).to_have_count(0)
        await page.get_by_role("button", name="Show History").click()
        await expect(page.locator(".graphiql-history")).to_be_visible()
        await page.get_by_role("button", name="Re-fetch GraphQL schema").click()
        await found.run("query One { viewer { actor } } query Two { viewer { projects { name } } }")
        await page.get_by_role("menuitem", name="Two").click()
        await found.answers(explorer.project)


async def test_a_server_that_does_not_tell_its_schema(browser: Browser, tmp_path: Path) -> None:
    with running(sqlite_place(tmp_path), tmp_path, graphiql="true", introspection="false") as server:
        async with opened(browser, server) as found:
            await found.put_in(server.key())
            await found.tells("without completion and documentation")
            await found.run("query Names { viewer { projects { name } } }")
            await found.answers(server.project)
            assert len([body for body in found.posted if "IntrospectionQuery" in body]) == 1
            server.kill()
            await found.page.get_by_role("button", name="Execute query").click()
            await found.tells("can't be reached")
            found.problems = [line for line in found.problems if "ERR_CONNECTION_REFUSED" not in line]
