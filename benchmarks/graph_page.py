"""The page that draws a graph, in a real browser: 6,000 boxes and 12,000 lines, drawn, dragged and walked by keys."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

from attribution.verdicts.stored import every_failure
from benchmarks.context import ROOT, Context, say
from benchmarks.report import Section, Table, at_most, milliseconds
from benchmarks.serving import Place, serving
from ingest.files.registry import import_path
from store.open import open_database

_PROJECT = "graph"
_SAMPLE = ROOT / "examples" / "sample" / "assistant.json"
_DRAWN, _PAN, _KEY = 1.5, 0.05, 0.1
_KEYS = 20
_RARE = 0.95

_FRAMES = """() => {
  window.frames_ = [];
  let before = performance.now();
  const next = (now) => { window.frames_.push(now - before); before = now; requestAnimationFrame(next); };
  requestAnimationFrame(next);
}"""
_KEY_TIME = """() => {
  window.keys_ = [];
  let pressed = 0;
  addEventListener("keydown", () => { pressed = performance.now(); }, true);
  addEventListener("focusin", () => requestAnimationFrame(() => window.keys_.push(performance.now() - pressed)), true);
}"""


async def run(context: Context) -> Section:
    """Measure with a graph that stands in for the data."""
    section = Section("The page of a graph")
    figures = ("drawn, with 6,000 boxes", "a frame while it is dragged, 95 %", "an arrow key, 95 %")
    try:
        from playwright.async_api import Error, async_playwright

        from tests.attribution.report.browser import launch
        from tests.web.graphs import graph
    except ImportError as error:
        section.missing.append(f"no browser can be had: {error}")
        return section
    nodes, edges = (600, 1200) if context.quick else (6000, 12_000)
    data = json.dumps(graph(nodes, edges))
    runs: list[tuple[float, list[float], list[float]]] = []
    with context.scratch() as folder:
        place = Place(f"sqlite:///{folder / 'graph.db'}")
        answer = await _sample(place.uri, _SAMPLE)
        async with serving(place, _PROJECT) as server, async_playwright() as playwright:
            try:
                browser = await launch(playwright)
            except Error as error:
                section.missing.append(f"no browser can be had: {error.message.splitlines()[0]}")
                return section
            for number in range(context.runs):
                say(f"graph page: run {number + 1}")
                runs.append(await _once(browser, server.url, server.key, answer, data))
            version = browser.version
            await browser.close()
    drawn = [one for one, _, _ in runs]
    frames = sorted(one for _, some, _ in runs for one in some)
    keys = sorted(one for _, _, some in runs for one in some)
    rare = [some[min(len(some) - 1, int(_RARE * len(some)))] for some in (frames, keys)]
    measured = zip(figures, (_DRAWN, _PAN, _KEY), (statistics.median(drawn), *rare), strict=True)
    section.goals += [at_most(figure, bound, value, milliseconds) for figure, bound, value in measured]
    table = Table(("what", "median", "95 %", "slowest"))
    table.add(
        "drawn, since the page was asked for", milliseconds(statistics.median(drawn)), "", milliseconds(max(drawn))
    )
    for name, some, high in (("a frame while it is dragged", frames, rare[0]), ("an arrow key", keys, rare[1])):
        table.add(name, milliseconds(statistics.median(some)), milliseconds(high), milliseconds(some[-1]))
    section.tables.append(table)
    section.numbers |= {"drawn": drawn, "frames": frames, "keys": keys}
    section.notes.append(
        f"{nodes:,} boxes and {edges:,} lines in Chromium {version} without a screen, drawn by software; {len(runs)} "
        "runs, each in a new window. The data stands ready: what the server takes for it is measured with the lineage. "
        "A key is measured from its press to the frame that shows where it led."
    )
    return section


async def _sample(uri: str, file: Path) -> str:
    """An answer of the sample, whose page is opened."""
    async with await open_database(uri) as database:
        store = database.project(_PROJECT)
        await import_path(store, file)
        (failure, *_) = await every_failure(store, None)
        assert failure.answer_id is not None
        return failure.answer_id


async def _once(browser: Any, url: str, key: str, answer: str, data: str) -> tuple[float, list[float], list[float]]:
    """Seconds until it was drawn, of each frame while it was dragged, and of each key."""
    context = await browser.new_context(viewport={"width": 1280, "height": 900}, base_url=url)
    page = await context.new_page()
    await page.goto("/ui/sign-in")
    await page.get_by_label("API key").fill(key)
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_role("heading", level=1).wait_for()
    await page.route("**/graph/data*", lambda route: route.fulfill(body=data, content_type="application/json"))
    await page.goto(f"/ui/projects/{_PROJECT}/variables/{answer}/graph")
    ready = page.locator("[data-ready]")
    await ready.wait_for()
    drawn = float(await ready.get_attribute("data-ready")) / 1000
    stage = await page.locator(".graph-stage").bounding_box()
    x, y = stage["x"] + stage["width"] / 2, stage["y"] + 40
    await page.get_by_role("button", name="Fit the whole graph").click()
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.evaluate(_FRAMES)
    for step in range(60):
        await page.mouse.move(x + 4 * step, y + 2 * (step % 20))
    frames = [one / 1000 for one in await page.evaluate("window.frames_")]
    await page.mouse.up()
    await page.locator('.graph-box[tabindex="0"]').focus()
    await page.evaluate(_KEY_TIME)
    for step in range(_KEYS):
        await page.keyboard.press("ArrowLeft" if step % 4 else "ArrowDown")
    keys = [one / 1000 for one in await page.evaluate("window.keys_")]
    await context.close()
    return drawn, frames[1:], keys
