"""Pages show the beginning of long texts, with a link to the whole, and compare no more than they can in a moment."""

from __future__ import annotations

from pathlib import Path

import httpx

from api.auth.browsers import COOKIE
from api.web.pages.words import MOST_SHOWN, changed, sentence
from schema.kinds import VariableKind
from store.open import open_database
from tests.factory import TraceBuilder
from tests.server.inside import inside
from tests.server.running import Place

PROJECT = "long"
LONG = 200_000


async def test_the_page_of_a_failure_shows_the_beginning_of_long_texts(tmp_path: Path) -> None:
    trace = TraceBuilder(PROJECT)
    step = trace.operation("answer")
    question = trace.variable("question", "q" * LONG, kind=VariableKind.QUERY)
    answer = trace.variable("answer", "p" * LONG, by=step, kind=VariableKind.ANSWER)
    expected = trace.variable("gold", "g" * LONG)
    failure = trace.failure(question, answer, expected_id=expected.id, gold_answers=("g" * LONG,))
    place = Place(f"sqlite:///{tmp_path / 'inside.db'}")
    async with await open_database(place.store) as database:
        await trace.write(database.project(PROJECT))
    key = place.make_key(project=PROJECT)
    with inside(tmp_path) as (_, url):
        async with httpx.AsyncClient(base_url=url, timeout=300, headers={"Cookie": f"{COOKIE}={key}"}) as client:
            page = await client.get(f"/ui/projects/{PROJECT}/failures/{failure.id}")
    assert page.status_code == 200, page.text
    for letter, variable in (("q", question), ("p", answer), ("g", expected)):
        assert letter * (MOST_SHOWN - 1) + "…" in page.text
        assert letter * MOST_SHOWN not in page.text
        assert f'/ui/projects/{PROJECT}/variables/{variable.id}">The whole text</a>' in page.text
    assert len(page.text) < 10 * MOST_SHOWN


def test_reasons_are_cut() -> None:
    assert len(sentence("r" * LONG)) <= MOST_SHOWN + 1


def test_texts_whose_comparison_would_take_long_are_not_compared_word_by_word() -> None:
    assert changed("yes we can", "yes we do") == (
        [("yes we ", "same"), ("can", "gone")],
        [("yes we ", "same"), ("do", "new")],
    )
    for old, new in (("a " * 600, "a " * 599 + "b"), ("." * 1200, "." * 1100), ("a b " * 400, "b a " * 400)):
        assert changed(old, new) == ([(old, "gone")], [(new, "new")])
