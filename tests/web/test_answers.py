"""The page of answers: marking one as wrong records a failure, and starts its attribution."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest

from tests.graphql.world import World
from tests.web.test_doors import OWN_PAGE, visitor

pytestmark = pytest.mark.one_engine

_LIVES = "In which town is Mara&#39;s cottage?"


@pytest.fixture
def writer(lone: World) -> Iterator[httpx.Client]:
    with visitor(lone.server, lone.server.key("writer", lone.project)) as client:
        yield client


def _rows(page: str) -> dict[str, str]:
    """The HTML of each answer, by its question."""
    rows = re.findall(r'<li class="panel case".*?</li>', page, re.DOTALL)
    return {re.findall(r"<h2><bdi>(.*?)</bdi>", row)[0]: row for row in rows}


def test_all_answers_newest_first(lone: World, writer: httpx.Client) -> None:
    page = writer.get(f"/ui/projects/{lone.project}/answers")
    assert page.status_code == 200
    rows = _rows(page.text)
    assert len(rows) == 8
    assert next(iter(rows)) == "What is Mara allergic to?"
    assert "✗ Wrong" in rows["What is Mara allergic to?"]
    assert "right would be" in rows["What is Mara allergic to?"]
    assert "✓ Right" in rows[_LIVES]


def test_answers_are_filtered(lone: World, writer: httpx.Client) -> None:
    base = f"/ui/projects/{lone.project}/answers"
    assert len(_rows(writer.get(f"{base}?state=wrong").text)) == 3
    assert list(_rows(writer.get(f"{base}?text=COTTAGE").text)) == [_LIVES]
    assert "No answer matches" in writer.get(f"{base}?text=nowhere").text
    assert writer.get(f"{base}?trace=nothing-like-it").status_code == 404


@pytest.mark.parametrize(("page", "listed", "some"), [("answers", 8, 'class="panel case"'), ("failures", 3, 'id="f-')])
def test_a_list_is_narrowed_to_days(lone: World, writer: httpx.Client, page: str, listed: int, some: str) -> None:
    """The sample was made on 22 November 2026. Its failures were recorded then, too."""
    base = f"/ui/projects/{lone.project}/{page}"

    def count(query: str) -> int:
        shown = writer.get(f"{base}?{query}")
        assert shown.status_code == 200
        return len(re.findall(f'<li class="[^>]*{some}|<li [^>]*{some}', shown.text))

    assert count("since=2026-11-22&until=2026-11-22") == listed
    assert count("since=2026-11-23") == count("until=2026-11-21") == 0
    shown = writer.get(f"{base}?since=2026-11-22&until=2026-11-30").text
    assert re.findall(r'<a class="tag" href="([^"]*)"', shown) == [
        f"{base}?until=2026-11-30",
        f"{base}?since=2026-11-22",
    ]
    assert ">from 2026-11-22<" in shown
    assert ">to 2026-11-30<" in shown
    for wrong in ("since=yesterday", "until=9999-12-31", "since=2026-11-23&until=2026-11-22"):
        refused = writer.get(f"{base}?{wrong}")
        assert refused.status_code == 400
        assert "is no day" in refused.text or "is before the first day" in refused.text


def test_each_filter_can_be_taken_away(lone: World, writer: httpx.Client) -> None:
    base = f"/ui/projects/{lone.project}/failures"
    shown = writer.get(f"{base}?text=pottery&type=UpdateError&sure=high&labelled=no&sort=time").text
    assert re.findall(r'<a class="tag" href="([^"]*)"[^>]*><bdi>(.*?)</bdi>', shown) == [
        (f"{base}?type=UpdateError&amp;labelled=no&amp;sure=high&amp;sort=time", "“pottery”"),
        (f"{base}?text=pottery&amp;labelled=no&amp;sure=high&amp;sort=time", "Update error"),
        (f"{base}?text=pottery&amp;type=UpdateError&amp;labelled=no&amp;sort=time", "at least 80% sure"),
        (f"{base}?text=pottery&amp;type=UpdateError&amp;sure=high&amp;sort=time", "not yet judged by a person"),
    ]


def test_an_answer_is_marked_wrong_and_attributed(lone: World, writer: httpx.Client) -> None:
    base = f"/ui/projects/{lone.project}"
    row = _rows(writer.get(f"{base}/answers").text)[_LIVES]
    (address,) = re.findall(r'action="([^"]+/wrong)"', row)
    sent = writer.post(address, data={"gold": "Leeds\r\n\r\n In Leeds "}, headers=OWN_PAGE)
    assert sent.status_code == 303
    failure = sent.headers["location"]
    assert re.fullmatch(rf"{base}/failures/[0-9a-f]{{32}}\?begun=1", failure)
    shown = writer.get(failure).text
    assert "Leeds / In Leeds" in shown
    assert "The cause is being found" in shown
    # The parts that the verdict changes are renewed by themselves when it is there.
    assert re.search(r'<div data-part="why">\s*<section[^>]* aria-labelledby="why"', shown)
    assert '<div data-part="picture">' in shown
    assert '<fieldset data-part="operations">' in shown
    assert "Finding the causes" in writer.get(f"{base}/jobs").text
    assert "✗ Wrong" in _rows(writer.get(f"{base}/answers").text)[_LIVES]


def test_an_answer_is_marked_right(lone: World, writer: httpx.Client) -> None:
    base = f"/ui/projects/{lone.project}/answers"
    row = next(row for row in _rows(writer.get(base).text).values() if "/right" in row)
    (address,) = re.findall(r'action="([^"]+/right)"', row)
    sent = writer.post(address, data={"trace": lone.ids["trace"]}, headers=OWN_PAGE)
    assert sent.status_code == 303
    answer = address.split("/")[-2]
    assert sent.headers["location"] == f"{base}?trace={lone.ids['trace']}#a-{answer}"
    assert not [row for row in _rows(writer.get(base).text).values() if "/right" in row]


def test_readers_and_other_sites_change_nothing(lone: World, writer: httpx.Client) -> None:
    base = f"/ui/projects/{lone.project}/answers"
    with visitor(lone.server, lone.server.key("reader", lone.project)) as reader:
        page = reader.get(base).text
        assert "<form method=" not in page
        assert len(_rows(page)) == 8
        for action in ("wrong", "right"):
            address = f"{base}/{lone.ids['answer']}/{action}"
            assert reader.post(address, data={"gold": "x"}, headers=OWN_PAGE).status_code == 403
            assert writer.post(address, data={"gold": "x"}, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert writer.post(f"{base}/nothing/wrong", data={"gold": "x"}, headers=OWN_PAGE).status_code in {400, 404}


def test_a_project_without_traces_says_how_to_record(lone: World) -> None:
    empty = f"{lone.project}-empty"
    with visitor(lone.server, lone.server.key("writer", empty)) as client:
        assert "memtrace run -- python app.py" in client.get(f"/ui/projects/{empty}/answers").text
