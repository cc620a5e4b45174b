"""The graph page in a real browser with its policy; generated large graphs replace the data."""

from __future__ import annotations

import json
import struct
import xml.etree.ElementTree as ET
from asyncio import to_thread
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Download, Page, expect

from tests.graphql.world import World
from tests.web.graphs import graph
from tests.web.looking import Looking, looking

_RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], "resultTypes": ["violations"]}
_SVG = "{http://www.w3.org/2000/svg}"


def _address(world: World) -> str:
    return f"/ui/projects/{world.project}/variables/{world.ids['answer']}/graph"


async def _signed_in(found: Looking, world: World) -> None:
    """Sign in before the test intercepts requests, because interception makes the browser cancel changes of pages."""
    await found.goto("/ui/sign-in")
    await found.sign_in(world.server.key("reader", world.project))
    await found.is_at(f"/ui/projects/{world.project}")


@asynccontextmanager
async def _opened(
    browser: Browser, world: World, data: dict[str, Any] | None = None, **how: Any
) -> AsyncIterator[Looking]:
    """The page with the drawn graph: of the given data, else of the sample."""
    async with looking(browser, world.server, **how) as found:
        await _signed_in(found, world)
        if data is not None:
            body = json.dumps(data)
            await found.page.route(
                "**/graph/data*", lambda route: route.fulfill(body=body, content_type="application/json")
            )
        await found.goto(_address(world))
        await expect(found.page.locator("[data-ready]")).to_be_visible()
        yield found


def _focused(page: Page) -> Any:
    return page.locator(".graph-box:focus")


async def _saved(page: Page, button: str) -> tuple[Download, bytes]:
    async with page.expect_download() as waiting:
        await page.get_by_role("button", name=button).click()
    download = await waiting.value
    return download, await to_thread(Path(await download.path()).read_bytes)


async def test_the_sample_is_walked_by_keyboard(browser: Browser, lone: World) -> None:
    async with _opened(browser, lone) as found:
        page = found.page
        await page.locator('.graph-box[tabindex="0"]').focus()
        first = await _focused(page).get_attribute("aria-label")
        assert first is not None
        assert first.startswith("\u2068Answer\u2069: ")
        await page.keyboard.press("ArrowLeft")
        second = await _focused(page).get_attribute("aria-label")
        assert second != first
        await expect(page.locator(".graph-live")).to_have_text(str(second))
        await page.keyboard.press("ArrowRight")
        await expect(_focused(page)).to_have_attribute("aria-label", first)
        await page.keyboard.press("p")
        await expect(page.locator(".graph-box.graph-pinned")).to_have_count(1)
        before = (await page.locator(".graph-time output").text_content() or "").split()[-2]
        await page.keyboard.press("ArrowLeft")
        await page.keyboard.press("e")
        await expect(page.locator(".graph-live")).to_contain_text("more box")
        after = (await page.locator(".graph-time output").text_content() or "").split()[-2]
        assert int(after) >= int(before)
        result = await Axe().run(page, options=_RULES)
        assert result.violations_count == 0, result.generate_report()
        await _focused(page).press("Enter")
        await page.wait_for_url("**/variables/*")
        assert "/graph" not in page.url


async def test_what_is_asked_stands_in_the_address(browser: Browser, lone: World) -> None:
    async with _opened(browser, lone) as found:
        page = found.page
        await page.get_by_text("Choose what is drawn").click()
        await page.get_by_label("Steps, at most").fill("1")
        await page.get_by_role("button", name="Show", exact=True).click()
        await expect(page.locator("[data-ready]")).to_be_visible()
        assert "depth=1" in page.url
        asked = "query($id: String!) { project { variable(reference: $id) { lineage(maxHops: 1) { nodes { id } } } } }"
        data = lone.ask(asked.replace("project {", f'project(name: "{lone.project}") {{'), {"id": lone.ids["answer"]})
        wanted = len(data["project"]["variable"]["lineage"]["nodes"])
        await expect(page.locator(".graph-time output")).to_contain_text(f"{wanted} of {wanted} boxes")


async def test_six_thousand_boxes(browser: Browser, lone: World) -> None:
    data = graph(6000, 12000)
    async with _opened(browser, lone, data) as found:
        page = found.page
        assert 10 < await page.locator(".graph-box").count() < 400
        said = page.locator(".graph-time output")
        await expect(said).to_contain_text("6000 of 6000 boxes")

        await page.locator('.graph-box[tabindex="0"]').focus()
        seen = {await _focused(page).get_attribute("data-index")}
        edges = {(one["source"], one["target"]) for one in data["edges"]}
        for _ in range(5):
            here = await _focused(page).get_attribute("data-index")
            await page.keyboard.press("ArrowRight")
            there = await _focused(page).get_attribute("data-index")
            if there != here:
                assert (f"n{here}", f"n{there}") in edges
                seen.add(there)
        assert len(seen) > 1

        await page.keyboard.press("/")
        await page.keyboard.type("box number 4321")
        await page.keyboard.press("Enter")
        await expect(page.locator(".graph-live")).to_contain_text("1 of 1: ")
        await expect(page.locator('.graph-box[data-index="4321"]')).to_be_in_viewport()
        await page.keyboard.press("Escape")
        await expect(_focused(page)).to_have_attribute("data-index", "4321")

        await page.get_by_role("button", name="Fit the whole graph").click()
        await expect(page.locator(".graph-box")).to_have_count(1)  # the focused box; the canvas shows the others

        await page.get_by_role("checkbox", name="Query").uncheck()
        await expect(page.locator(".graph-live")).to_have_text("5400 of 6000 boxes are shown.")
        slider = page.get_by_role("slider", name="As it was at")
        await slider.fill("999")
        await expect(said).to_have_text("place 999 of 5999, 900 of 6000 boxes")
        await expect(slider).to_have_attribute("aria-valuetext", "place 999 of 5999, 900 of 6000 boxes")

        download, content = await _saved(page, "Save as SVG")
        assert download.suggested_filename.startswith("Graph-of-")
        tree = ET.fromstring(content)
        shown = {f"n{i}" for i in range(1000) if data["nodes"][i]["kind"] != "Query"}
        assert len(tree.findall(f".//{_SVG}g[@class='box']")) == 900
        assert len(tree.findall(f".//{_SVG}path[@class='edge']")) == sum(a in shown and b in shown for a, b in edges)
        download, content = await _saved(page, "Save as PNG")
        assert download.suggested_filename.endswith(".png")
        assert content.startswith(b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack(">II", content[16:24])
        assert width > 500
        assert height > 500


_CROSSED = """([boxes, lines]) => lines.filter((d) => {
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("d", d);
  const step = line.getTotalLength() / 200;
  const places = Array.from({ length: 199 }, (_, index) => line.getPointAtLength((index + 1) * step));
  return places.some(({ x, y }) => boxes.some((box) => Math.abs(box[0] - x) < 99 && Math.abs(box[1] - y) < 22));
}).length"""


async def test_lines_pass_beside_the_boxes_between_their_ends(browser: Browser, lone: World) -> None:
    async with _opened(browser, lone, graph(60, 90, layers=12)) as found:
        _, content = await _saved(found.page, "Save as SVG")
        tree = ET.fromstring(content)
        places = [box.attrib["transform"] for box in tree.findall(f".//{_SVG}g[@class='box']")]
        boxes = [[float(number) for number in place[len("translate(") : -1].split()] for place in places]
        lines = [line.attrib["d"] for line in tree.findall(f".//{_SVG}path[@class='edge']")]
        assert (len(boxes), len(lines)) == (60, 90)
        assert await found.page.evaluate(_CROSSED, [boxes, lines]) == 0
        straight = [f"M{d[1:].partition('C')[0]}L{' '.join(d.split()[-2:])}" for d in lines]
        assert await found.page.evaluate(_CROSSED, [boxes, straight]) > 0


@pytest.mark.parametrize("seed", range(6))
async def test_layers(browser: Browser, lone: World, seed: int) -> None:
    """Edges go forward, and boxes of a layer don't touch; equal graphs have equal positions."""
    chance = Random(seed)
    count = chance.choice((1, 2, 40, 150, 700))
    shuffled = chance.sample(range(count), count)
    pairs = [sorted((chance.randrange(count), chance.randrange(count))) for _ in range(count * 2)]
    edges = [[shuffled[a], shuffled[b]] for a, b in pairs if a < b]
    async with looking(browser, lone.server) as found:
        await found.goto("/ui/sign-in")
        style = await found.page.locator("link[href*='pages.css']").get_attribute("href") or ""
        address = style.replace("pages.css", "graph/layers.js")
        places = await found.page.evaluate(
            """async ([address, count, edges]) => {
                const { layered, STEP_X, STEP_Y } = await import(address);
                const [one, two] = [layered(count, edges), layered(count, edges)];
                return { x: [...one.x], y: [...one.y], again: [...two.y], STEP_X, STEP_Y };
            }""",
            [address, count, edges],
        )
    assert places["again"] == places["y"]
    assert all(places["x"][a] + places["STEP_X"] <= places["x"][b] for a, b in edges)
    for layer in set(places["x"]):
        row = sorted(y for x, y in zip(places["x"], places["y"], strict=True) if x == layer)
        assert all(below - above >= places["STEP_Y"] - 1e-6 for above, below in pairwise(row))


async def test_a_tall_column_is_broken_into_several(browser: Browser, lone: World) -> None:
    """A layer of hundreds of boxes becomes as wide as high; edges still go forward, and boxes don't touch."""
    count = 600
    edges = [[node, count] for node in range(count)] + [[count, count + 1]]
    async with looking(browser, lone.server) as found:
        await found.goto("/ui/sign-in")
        style = await found.page.locator("link[href*='pages.css']").get_attribute("href") or ""
        x, y, layer, step_x, step_y = await found.page.evaluate(
            """async ([folder, count, edges]) => {
                const { layered, STEP_X, STEP_Y } = await import(`${folder}/layers.js`);
                const { inColumns } = await import(`${folder}/columns.js`);
                const { x, y, layer } = inColumns(layered(count, edges));
                return [[...x], [...y], [...layer], STEP_X, STEP_Y];
            }""",
            [style.replace("/pages.css", "/graph"), count + 2, edges],
        )
    assert max(y) - min(y) < max(x) - min(x)
    assert all(x[a] + step_x <= x[b] and layer[a] < layer[b] for a, b in edges)
    places = sorted(zip(x, y, strict=True))
    assert all(one[0] != other[0] or other[1] - one[1] >= step_y for one, other in pairwise(places))


async def test_circles_are_drawn_too(browser: Browser, lone: World) -> None:
    data = graph(150, 300)
    data["edges"] += [{"source": one["target"], "target": one["source"], "kind": "Read"} for one in data["edges"][:20]]
    async with _opened(browser, lone, data) as found:
        await expect(found.page.locator(".graph-time output")).to_contain_text("150 of 150 boxes")


HOSTILE = (
    "<img src=x onerror=alert(1)><script>alert(1)</script>",
    "\u202egnp.exe\u202c \u2066turned\u2069",
    "\x1b[31mred\x1b[0m\x00\x07",
    "half \ud800 a pair \udc00",
    "x" * 10_000,
    "]]>&amp;--><svg onload=alert(1)>",
    "",
)


async def test_hostile_texts_are_texts(browser: Browser, lone: World) -> None:
    nodes = [
        {"id": f"{i}{text}", "label": text, "kind": text, "note": text, "group": text} for i, text in enumerate(HOSTILE)
    ]
    edges = [{"source": a["id"], "target": b["id"], "label": HOSTILE[0]} for a, b in pairwise(nodes)]
    async with _opened(
        browser, lone, {"start": nodes[0]["id"], "truncated": False, "nodes": nodes, "edges": edges}
    ) as found:
        page = found.page
        await page.get_by_role("button", name="Fit the whole graph").click()
        await expect(page.locator(".graph-box")).to_have_count(len(nodes))
        assert await page.locator(".graph img, .graph script, .graph svg svg").count() == 0
        texts = await page.locator(".graph text").all_text_contents()
        labels = [await one.get_attribute("aria-label") or "" for one in await page.locator(".graph-box").all()]
        assert any("<script>" in label for label in labels)
        for text in (*texts, *labels):
            assert len(text) < 1100
            assert not set(text) & set("\x00\x07\x1b\u202e\u202c\u2066\ud800\udc00")
        _, content = await _saved(page, "Save as SVG")
        assert len(ET.fromstring(content).findall(f".//{_SVG}g[@class='box']")) == len(nodes)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"nodes": [], "edges": [{"source": "a", "target": "b"}]}, "an edge has no node a"),
        ({"nodes": [{"id": 1}], "edges": []}, "a node has an id and a kind"),
        ({"nodes": []}, "a graph has lists of nodes and edges"),
        ({"nodes": [{"id": str(i), "kind": "Other"} for i in range(6001)], "edges": []}, "more than 6000 boxes"),
    ],
)
async def test_what_is_no_graph(browser: Browser, lone: World, data: dict[str, Any], told: str) -> None:
    async with looking(browser, lone.server) as found:
        await _signed_in(found, lone)
        await found.page.route("**/graph/data*", lambda route: route.fulfill(json=data))
        await found.goto(_address(lone))
        await expect(found.page.get_by_role("alert")).to_contain_text(told)


async def test_the_loss_is_marked_for_who_comes_from_a_failure(browser: Browser, lone: World) -> None:
    asked = """query($p: String!) { project(name: $p) { failures(first: 3) { nodes {
      id answerId verdicts { method losses { reached path(first: 40) { holds variable { id } } } } } } } }"""
    listed = lone.ask(asked, {"p": lone.project})["project"]["failures"]["nodes"]
    base = f"/ui/projects/{lone.project}"
    marked = 0
    async with looking(browser, lone.server) as found:
        await _signed_in(found, lone)
        for failure in listed:
            losses = [loss for one in failure["verdicts"] for loss in one["losses"] if not loss["reached"]]
            held = {step["variable"]["id"] for loss in losses for step in loss["path"] if step["holds"]}
            there = f"{base}/variables/{failure['answerId']}/graph"
            data = await found.page.request.get(f"{lone.server.url}{there}/data?from=failures/{failure['id']}")
            marks = {node["id"]: node["mark"] for node in (await data.json())["nodes"] if "mark" in node}
            assert {id_ for id_, mark in marks.items() if mark != "lost"} <= held
            if not marks:
                continue
            marked += 1
            await found.goto(f"{there}?from=failures/{failure['id']}")
            await expect(found.page.locator("[data-ready]")).to_be_visible()
            broken = found.page.locator(".graph-box:is(.graph-lost, .graph-last)")
            await expect(broken.first).to_be_attached()
            label = await broken.first.get_attribute("aria-label")
            assert "needed words" in str(label)
        plain = await found.page.request.get(f"{lone.server.url}{base}/variables/{listed[0]['answerId']}/graph/data")
        assert not [node for node in (await plain.json())["nodes"] if "mark" in node]
    assert marked
