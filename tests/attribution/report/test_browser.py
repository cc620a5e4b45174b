"""Reports in a real browser, without network and without errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from playwright.async_api import Browser, Page

from attribution.report import html, words
from attribution.report.compare import compare
from attribution.report.model import ReportData
from tests.attribution.report.memory import Memory, losing, many, report, some
from tests.attribution.report.test_forms import HOSTILE

MANY = 2000


@pytest.fixture(scope="session")
def big(tmp_path_factory: pytest.TempPathFactory) -> ReportData:
    """The report on 2,000 failures."""
    return report(many(MANY), tmp_path_factory.mktemp("big"))


@dataclass
class Opened:
    """A page and all that went wrong or was asked for on the way."""

    page: Page
    asked: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@asynccontextmanager
async def opened(browser: Browser, path: Path, source: str, **options: Any) -> AsyncIterator[Opened]:
    """Open a page from a file, with no network at hand."""
    await asyncio.to_thread(path.write_text, source, "utf-8")
    context = await browser.new_context(offline=True, **options)
    found = Opened(await context.new_page())
    found.page.on("request", lambda request: found.asked.append(request.url))
    found.page.on("console", lambda message: found.problems.append(message.text))
    found.page.on("pageerror", lambda error: found.problems.append(str(error)))
    found.page.on("dialog", lambda dialog: found.problems.append(dialog.message))
    await found.page.goto(path.as_uri())
    yield found
    assert found.problems == []
    assert found.asked == [path.as_uri()]
    await context.close()


async def cells(page: Page, table: int) -> list[list[str]]:
    """The cells of a table, without its head."""
    rows = page.locator("table").nth(table).locator("tbody tr")
    return [await rows.nth(number).locator("th, td").all_text_contents() for number in range(await rows.count())]


async def test_a_report_opens(browser: Browser, data: ReportData, tmp_path: Path) -> None:
    async with opened(browser, tmp_path / "report.html", html.render(data)) as found:
        page = found.page
        assert await page.title() == "Why answers were wrong: project"
        assert await page.get_by_role("heading", level=1).inner_text() == "Why answers were wrong"
        assert await cells(page, 2) == [
            [part.label, f"{part.count:,}", words.percent(part.rate), words.interval(part)]
            for part in words.some(data.by_error_type)
        ]
        drawings = page.get_by_role("img")
        assert await drawings.count() == 6
        assert await page.get_by_role("img", name="By operation: score of the harm that each did").count() == 1
        assert await page.get_by_role("img", name="By error type: failures, with 95 % intervals").count() == 1
        for place in range(6):
            box = await drawings.nth(place).bounding_box()
            assert box is not None
            assert box["width"] > 300
            assert box["height"] > 10
        width: int = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert width <= 0


async def test_a_report_of_2000_failures_opens(browser: Browser, big: ReportData, tmp_path: Path) -> None:
    assert big.totals.failures == MANY
    async with opened(browser, tmp_path / "big.html", html.render(big)) as found:
        page = found.page
        assert await page.locator("dl.totals dd").first.inner_text() == "2,000"
        assert await page.locator("[id^=case-]").count() == MANY
        assert await cells(page, 2) == [
            [part.label, f"{part.count:,}", words.percent(part.rate), words.interval(part)]
            for part in big.by_error_type
        ]


@pytest.mark.parametrize("memory", [some, losing])
async def test_hostile_texts_do_nothing(browser: Browser, tmp_path: Path, memory: Callable[[str], Memory]) -> None:
    data = await asyncio.to_thread(report, memory(HOSTILE), tmp_path)
    async with opened(browser, tmp_path / "hostile.html", html.render(data)) as found:
        assert await found.page.locator("script, img, table table").count() == 0
        assert "<script>alert(1)</script>" in await found.page.locator("main").inner_text()


async def test_the_break_is_seen_without_colours(browser: Browser, tmp_path: Path) -> None:
    data = await asyncio.to_thread(report, losing(), tmp_path)
    async with opened(
        browser, tmp_path / "lost.html", html.render(data), viewport={"width": 390, "height": 800}
    ) as found:
        page = found.page
        ways = page.locator(".cards")
        assert await ways.count() == 2
        assert await ways.first.is_visible()
        lost = page.locator(".card-lost", has_text="✗ Overwritten: lost here")
        assert "on Thursday 0" in await lost.locator("del").all_text_contents()
        styles = await page.evaluate("""() => [".card-lost", ".card-held"].map(name =>
            getComputedStyle(document.querySelector(name)).borderLeftWidth)""")
        assert styles == ["2px", "1px"]
        width: int = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert width <= 0


async def test_a_long_name_of_an_operation_fits_a_telephone(browser: Browser, data: ReportData, tmp_path: Path) -> None:
    first = data.families[0]
    named = replace(first, share=replace(first.share, label=f"UpdateError at {'memory_system.' * 8}update"))
    source = html.render(replace(data, families=[named, *data.families[1:]]))
    async with opened(browser, tmp_path / "long.html", source, viewport={"width": 390, "height": 800}) as found:
        width: int = await found.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert width <= 0


async def test_a_cited_case_opens_without_scripts(browser: Browser, data: ReportData, tmp_path: Path) -> None:
    number = data.families[0].cases[1]
    path = tmp_path / "plain.html"
    async with opened(browser, path, html.render(data), java_script_enabled=False) as found:
        case = found.page.locator(f"#case-{number}")
        assert not await case.locator("dl").is_visible()
        await case.locator("summary").first.click()
        assert await case.locator("dl").is_visible()
        assert data.cases[number - 1].question in await case.inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_texts_can_be_read_in_light_and_dark(
    browser: Browser, data: ReportData, tmp_path: Path, scheme: Any
) -> None:
    async with opened(browser, tmp_path / "page.html", html.render(data), color_scheme=scheme) as found:
        colours = await found.page.evaluate(
            """names => names.map(name => {
                const style = getComputedStyle(document.querySelector(name));
                let over = document.querySelector(name);
                while (getComputedStyle(over).backgroundColor === "rgba(0, 0, 0, 0)") over = over.parentElement;
                return [style.color, getComputedStyle(over).backgroundColor];
            })""",
            ["body", "caption", "tbody th", "details dd", ".card-held .head", ".card-lost .head", ".card-lost del"],
        )
        for ink, paper in colours:
            assert contrast(ink, paper) >= 4.5, (ink, paper)
        is_dark = luminance(colours[0][1]) < 0.2
        assert is_dark is (scheme == "dark")


async def test_paper_is_white_and_has_all_numbers(browser: Browser, data: ReportData, tmp_path: Path) -> None:
    async with opened(browser, tmp_path / "page.html", html.render(data), color_scheme="dark") as found:
        assert not await found.page.locator(".numbers table").first.is_visible()
        await found.page.emulate_media(media="print")
        ink: str = await found.page.evaluate("getComputedStyle(document.body).color")
        assert contrast(ink, "rgb(255, 255, 255)") >= 4.5
        box = await found.page.locator(".numbers table").first.bounding_box()
        assert box is not None
        assert box["height"] > 100


async def test_a_comparison_opens(browser: Browser, data: ReportData, big: ReportData, tmp_path: Path) -> None:
    source = html.render_comparison(compare(data, big))
    async with opened(browser, tmp_path / "comparison.html", source) as found:
        assert await found.page.get_by_role("heading", level=1).inner_text() == "Two runs compared"
        assert (await cells(found.page, 0))[2] == ["failures", "12", "2,000"]


def luminance(colour: str) -> float:
    """Relative luminance of a colour such as ``rgb(1, 2, 3)`` (WCAG 2.2)."""
    parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """How far two colours differ for the eye (WCAG 2.2); 4.5 is enough for text."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)
