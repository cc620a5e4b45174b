"""HTML, Markdown and JSON say the same, whatever the texts hold."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from attribution.report import html, markdown, words
from attribution.report.build import build
from attribution.report.compare import compare
from attribution.report.model import Harm, Harmful, Reach, ReportData, Sentence, Share, SourcePair, Summary
from attribution.report.picture import whole_path
from tests.attribution.report.memory import MADE, gathered, losing, many, report, scope, some
from tests.attribution.report.pages import Page, rendered

# A form for names and texts that would break out of whatever they are put into.
HOSTILE = (
    "</title></style></script><script>alert(1)</script><img src=x onerror=alert(1)> \"'`{}`{{{{7*7}}}}{{%raw%}}"
    " | a || b |\n# no heading\n- no item\n[link](javascript:alert(1)) ![i](http://h/i.png) <http://h> http://h "
    "www.h.com a@b.c *em* _em_ **b** ~~s~~ &amp; &lt; &#60; \\ $x$ \u202egnirts\u202c \x1b[31m\x00"
    " </bdi></dd></table> 漢字 é"
)


@pytest.fixture(scope="module")
def hostile_data(tmp_path_factory: pytest.TempPathFactory) -> ReportData:
    """The same report, of a memory that writes hostile names and texts."""
    return report(some(HOSTILE), tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def lost(tmp_path_factory: pytest.TempPathFactory) -> ReportData:
    """The report on a fact that an update lost, and on one that a search missed."""
    return report(losing(), tmp_path_factory.mktemp("lost"))


@pytest.fixture(scope="module")
def hostile_lost(tmp_path_factory: pytest.TempPathFactory) -> ReportData:
    """The same of a memory that writes hostile names, texts and ids."""
    return report(losing(HOSTILE), tmp_path_factory.mktemp("hostile-lost"))


def row(part: Share) -> list[str]:
    return [part.label, f"{part.count:,}", words.percent(part.rate), words.interval(part)]


def titles(page: Page) -> str:
    """What a reader is told who points at something."""
    return "\n".join(attributes["title"] or "" for _, attributes in page.tags if "title" in attributes)


def squeezed(text: str) -> str:
    return " ".join(text.split())


def rows_of(page: Page) -> list[list[str]]:
    return [cells for table in page.tables for cells in table[1:]]


def test_all_forms_have_the_same_numbers(data: ReportData) -> None:
    page, document = Page(html.render(data)), rendered(markdown.render(data))
    again = msgspec.json.decode(msgspec.json.encode(data), type=ReportData)
    assert again.asked is not None
    lists = [again.asked.by_error_type, again.by_error_type, again.by_prompt, again.by_session]
    # What there is none of is in JSON alone: a table of zeros says nothing more.
    parts = [part for each in lists for part in each if part.count]
    levers = [[*row(lever.share), words.kinds(lever), words.settings(lever.settings)] for lever in again.levers]
    harm = [[one.label, *words.harmed(one)] for ranking in again.harm for one in ranking.worst]
    assert len(harm) == 9
    for shown in (rows_of(page), rows_of(document)):
        assert [cells for cells in shown if len(cells) == 6] == levers
        assert [cells for cells in shown if len(cells) == 4] == [*(row(part) for part in parts), *harm]
    # The totals are a list of terms in HTML and a table in Markdown.
    totals = data.totals
    counts = [totals.failures, totals.attributed, totals.abstained, totals.without_verdict]
    assert [cells[1] for cells in document.tables[0][1:]] == [str(count) for count in counts]
    for name, count in zip(("failures", "attributed", "abstained", "without verdict"), counts, strict=True):
        assert f"<dt>{name}</dt><dd>{count}</dd>" in html.render(data)


def test_all_forms_say_how_many_questions_were_asked(data: ReportData) -> None:
    said = "The traces contain 20 answers. 12 of 20 are known to be wrong: 60.0 % (38.7 to 78.1 %)."
    assert said in Page(html.render(data)).text
    assert said in rendered(markdown.render(data)).text
    chosen = msgspec.structs.replace(data, asked=None)
    for text in (html.render(chosen), markdown.render(chosen)):
        assert "questions asked" not in text


def test_tables_of_both_forms_are_equal(data: ReportData) -> None:
    page, document = Page(html.render(data)), rendered(markdown.render(data))
    assert document.tables[1:] == page.tables
    assert [text for level, text in document.headings if level == 2] == [
        text for level, text in page.headings if level == 2
    ]


def test_cases_are_cited_with_quotes_and_traces(data: ReportData) -> None:
    for text in (Page(html.render(data)).text, rendered(markdown.render(data)).text):
        for case in data.cases:
            if case.attribution_id is None:
                continue
            assert f"#{case.number}" in text
            assert text.count("the memory (memory)") == 11
            assert case.question in text
            for step in case.path:
                assert step.quote in text
        assert "annotation" in text


def test_ids_are_told_only_to_who_points_at_something(data: ReportData, lost: ReportData) -> None:
    for found in (data, lost):
        page = Page(html.render(found))
        assert not re.search("[0-9a-f]{16}", page.text)
        for case in found.cases:
            if case.attribution_id is not None:
                for id_ in (case.failure_id, case.trace_id, *(step.variable_id for step in case.path)):
                    assert id_ in titles(page)


def test_a_case_has_its_whole_path(lost: ReportData) -> None:
    updated, searched = lost.cases
    page, text = Page(html.render(lost)), squeezed(rendered(markdown.render(lost)).text)
    cards = [str(attributes.get("class")) for tag, attributes in page.told if tag == "li"]
    assert [one for one in cards if one.startswith("card ")] == [
        *("card card-held", "card card-held", "card card-lost", "card card-gone"),
        *("card card-held", "card card-held", "card card-lost", "card card-gone"),
    ]
    states = ["has the fact", "has the fact", "✕ the fact is lost here", "does not have the fact"]
    assert [box.state for box in whole_path(updated)] == states
    quote = f"“{updated.path[0].quote}”"
    assert f"Message message-0: has the fact: {quote}" in text
    assert "MemoryUnit unit-0@2 by update: ✕ the fact is lost here" in text
    assert "Answer: does not have the fact" in text
    # Each case quotes it once, however many of its steps have it.
    assert text.count(quote) == 2
    assert whole_path(updated)[-1].quote == updated.prediction
    assert whole_path(searched)[2].by == "search"


def test_an_update_shows_what_it_changed(lost: ReportData) -> None:
    page, document = Page(html.render(lost)), rendered(markdown.render(lost))
    for text in (squeezed(page.text), squeezed(document.text)):
        assert "From unit-0@1 to unit-0@2: 1 line removed, 1 added (each sentence is on a line of its own)." in text
    changed = [attributes["class"] for tag, attributes in page.tags if tag == "span" and "class" in attributes]
    assert changed == ["both", "both", "removed", "added"]
    assert [tag for tag, _ in document.tags].count("pre") == 1
    assert "-The class is on Thursday 0." in document.text
    assert "+The class is at the Kiln House." in document.text


def test_a_search_shows_how_it_ranked_what_was_missed(lost: ReportData) -> None:
    said = "The search rated 13 units and returned 2. The unit that has the fact was number 12."
    for page in (Page(html.render(lost)), rendered(markdown.render(lost))):
        assert said in squeezed(page.text)
        (table,) = [table for table in page.tables if table[0][0] == "rank"]
        assert table[1] == ["1", "0.9", "other-0", "yes", "about something else 0"]
        assert [squeezed(cell) for cell in table[-1]] == [
            "12",
            "0.02",
            "unit-1@1",
            "no; it has the fact",
            "I like it. The class is on Thursday 1.",
        ]
        assert len(table) == 12


def test_charts_have_text_alternatives_and_the_same_numbers(data: ReportData) -> None:
    page = Page(html.render(data))
    drawings = [attributes for tag, attributes in page.tags if tag == "svg"]
    ids = {attributes.get("id") for _, attributes in page.tags}
    assert len(drawings) == 3 + len(data.harm) == 6
    for attributes in drawings:
        assert attributes["role"] == "img"
        assert set((attributes["aria-labelledby"] or "").split()) <= ids
    for part in data.by_error_type:
        if part.count:
            assert f"{part.label}: {part.count:,} ({words.percent(part.rate)})" in page.text
    for ranking in data.harm:
        for one in ranking.worst:
            assert f"{one.label}: {one.score:.3f}" in page.text


def test_the_page_is_sound(data: ReportData) -> None:
    page = Page(html.render(data))
    assert not page.open
    assert page.captions == len(page.tables)
    assert [level for level, _ in page.headings][:2] == [1, 2]
    assert [level for level, _ in page.headings].count(1) == 1
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for tag, attributes in [*page.tags, *page.told]:
        assert tag not in {"script", "iframe", "object", "embed", "form", "base"}
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("src", "href"):
            assert (attributes.get(name) or "#").startswith(("#", "data:,"))
    assert all(attributes.get("scope") for tag, attributes in page.tags if tag == "th")


@pytest.mark.parametrize("name", ["data", "lost"])
def test_hostile_texts_stay_texts_in_html(name: str, request: pytest.FixtureRequest) -> None:
    data, hostile = request.getfixturevalue(name), request.getfixturevalue(f"hostile_{name}")
    plain, page = Page(html.render(data)), Page(html.render(hostile))
    assert not page.open
    # The same elements in the same order, attributes and all, but for those whose values are ids.
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in plain.tags]
    assert [sorted(attributes) for _, attributes in page.tags] == [sorted(attributes) for _, attributes in plain.tags]
    assert {tag for tag, _ in page.told} <= {
        "b",
        "bdi",
        "del",
        "div",
        "ins",
        "li",
        "mark",
        "ol",
        "p",
        "q",
        "span",
        "time",
    }
    assert {name for _, attributes in page.told for name in attributes} <= {
        "class",
        "title",
        "datetime",
        "aria-label",
        "aria-hidden",
    }
    assert "<script>alert(1)</script>" in page.text
    assert "{{7*7}}" in page.text
    assert "\x1b" not in page.text
    assert "\x00" not in page.text


@pytest.mark.parametrize("name", ["data", "lost"])
def test_hostile_texts_stay_texts_in_markdown(name: str, request: pytest.FixtureRequest) -> None:
    data, hostile = request.getfixturevalue(name), request.getfixturevalue(f"hostile_{name}")
    source = markdown.render(hostile)
    plain, page = rendered(markdown.render(data)), rendered(source)
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in plain.tags]
    assert [len(cells) for cells in rows_of(page)] == [len(cells) for cells in rows_of(plain)]
    assert "<script>alert(1)</script>" in page.text
    assert "[link](javascript:alert(1))" in page.text
    assert not {"\x1b", "\x00", "\u202e"} & set(source)
    assert source.count("\n") == markdown.render(data).count("\n")


def test_hostile_settings_places_and_people_stay_texts_in_markdown(data: ReportData) -> None:
    """These are no names and texts of a memory: attributes of operations, places in code, and authors of verdicts."""

    def told(said: str) -> ReportData:
        lever = msgspec.structs.replace(data.levers[0], settings={said: [said, 5]}, locations=[said, said], reach=None)
        reach = msgspec.structs.replace(
            data.levers[0], settings={}, locations=[], reach=Reach(setting=said, now=2, k=5, finds=3, of=5)
        )
        pair = SourcePair(said, said, 3, 0.5, None, 0.25, 0.75, None)
        harm = Harm("operation", [Harmful("id", said, 1.0, 2, 0.5)], 3)
        return msgspec.structs.replace(data, levers=[lever, reach], agreements=[pair], harm=[harm])

    source = markdown.render(told(HOSTILE.format("it")))
    plain, page = rendered(markdown.render(told("it"))), rendered(source)
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in plain.tags]
    assert [len(cells) for cells in rows_of(page)] == [len(cells) for cells in rows_of(plain)]
    assert page.text.count("<script>alert(1)</script>") == 8
    assert not {"\x1b", "\x00", "\u202e"} & set(source)


def test_hostile_texts_come_back_from_json(hostile_data: ReportData) -> None:
    assert msgspec.json.decode(msgspec.json.encode(hostile_data), type=ReportData) == hostile_data
    assert any("<script>alert(1)</script>" in case.question for case in hostile_data.cases)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a b", "a b"),
        ("two\nlines\r\n", "two lines"),
        ("a|b", "a\\|b"),
        ("<b>&amp;", "&lt;b&gt;&amp;amp;"),
        ("http://h www.h", "http:\\//h www\\.h"),
        ("\ud800", "\ufffd"),
        ("1.5 - 2 (3)", "1.5 - 2 (3)"),
    ],
)
def test_escape(text: str, shown: str) -> None:
    assert markdown.escape(text) == shown


def test_a_summary_links_its_cases(data: ReportData) -> None:
    one, other, *_ = data.families[0].cases
    summary = Summary("m <1>", [Sentence("Facts <get> lost.", [one, other])], 0, 120, 0.0)
    with_it = msgspec.structs.replace(data, summary=summary)
    source = html.render(with_it)
    page = Page(source)
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    ids = {attributes.get("id") for _, attributes in page.tags}
    assert links == ["#main", f"#case-{one}", f"#case-{other}"]
    assert {link[1:] for link in links if link} <= ids
    assert "Facts <get> lost." in page.text
    document = rendered(markdown.render(with_it))
    assert f"Facts <get> lost. (#{one}, #{other})" in document.text
    assert "Summary" not in rendered(markdown.render(data)).text


def test_long_families_name_the_rest_and_json_has_all(tmp_path: Path) -> None:
    data = report(many(200), tmp_path)
    page, document = Page(html.render(data)), rendered(markdown.render(data))
    articles = [tag for tag, _ in page.tags if tag == "article"]
    assert len(articles) == words.SHOWN * len(data.families)
    ids = {attributes.get("id") for _, attributes in page.tags}
    for family in data.families:
        assert family.share.count == 25
        assert {f"case-{number}" for number in family.cases} <= ids
    for case in data.cases:
        assert case.failure_id in titles(page)
        assert case.failure_id in document.text


def test_forms_of_a_comparison_are_equal(data: ReportData, hostile_data: ReportData, tmp_path: Path) -> None:
    memory = some(HOSTILE)
    fewer = build(gathered([memory], tmp_path)[3:], scope(memory), MADE)
    for found in (compare(data, fewer), compare(hostile_data, data)):
        page, document = Page(html.render_comparison(found)), rendered(markdown.render_comparison(found))
        assert not page.open
        squeezed = [[[" ".join(cell.split()) for cell in cells] for cells in table] for table in page.tables]
        shown = [[[" ".join(cell.split()) for cell in cells] for cells in table] for table in document.tables]
        clean = str.maketrans("", "", "\ufffd")
        assert [[[cell.translate(clean) for cell in cells] for cells in table] for table in shown] == [
            [[cell.translate(clean) for cell in cells] for cells in table] for table in squeezed
        ]
        assert not [tag for tag, _ in page.tags if tag == "script"]
