from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import uuid4

import pytest
import pytest_asyncio

from schema.kinds import VariableKind
from store.contract.answers import Span
from store.contract.protocol import Database, GraphStore
from tests.factory import TraceBuilder, moment

TEXTS = {
    "oslo": "Mia moved to Oslo with the self-driving car",
    "bergen": "Mia moved on to Bergen, by car. Driving herself!",
    "arabic": "تحب ميا القهوة في الصباح",
    "chinese": "米娅住在奥斯陆，喜欢咖啡",
    "japanese": "ミアは東京タワーに行った",
    "korean": "미아는 서울에 산다",
    "russian": "Мия живёт в Осло",
    "french": "Le Café de l'ÉCOLE, naïve",
    "german": "Große Straße",
    "emoji": "So happy 🚀🎉 today 👩‍👩‍👧",
    "code": "call get_user_name(user-id) at 3.14 in C:\\temp\\x.py",
    "symbols": 'a+b && c || !d (e) {f} [g] ^h "i" ~j k* l? m:n \\o /p',
    "operators": "AND OR NOT TO NEAR",
    "stop": "the a of it was to be or not",
}


@pytest_asyncio.fixture(scope="module")
async def texts(database: Database) -> GraphStore:
    """A project with ``TEXTS``, which tests only read."""
    store = database.project(f"test-{uuid4().hex}")
    await built(store, store.project_id)
    return store


async def built(store: GraphStore, project: str) -> TraceBuilder:
    trace = TraceBuilder(project)
    for name, text in TEXTS.items():
        trace.variable(name, text, name="")
    await trace.write(store)
    return trace


async def found(store: GraphStore, text: str, trace_id: str | None = None) -> list[str]:
    hits = await store.search(text, trace_id)
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    return sorted(hit.variable.external_id for hit in hits)


FOUND = {
    "oslo": ["oslo"],
    "OSLO Mia": ["oslo"],
    "mia": ["bergen", "oslo"],
    "car mia moved": ["bergen", "oslo"],
    "oslo bergen": [],
    "move": [],
    "osl": [],
    "osl*": [],
    "osol~": [],
    "self-driving": ["oslo"],
    "driving self": ["oslo"],
    "driving-self": [],
    "القهوة": ["arabic"],
    "ميا الصباح": ["arabic"],
    "قهوة": [],
    "奥斯陆": ["chinese"],
    "咖啡 米娅": ["chinese"],
    "陆斯奥": [],
    "東京": ["japanese"],
    "タワー": ["japanese"],
    "京東": [],
    "서울에": ["korean"],
    "ЖИВЁТ": ["russian"],
    "CAFÉ": ["french"],
    "école": ["french"],
    "cafe": [],
    "STRASSE": ["german"],
    "große": ["german"],
    "🚀": [],
    "happy 🚀 today": ["emoji"],
    "user_name": ["code"],
    "name_get": [],
    "user-id": ["code"],
    "get_user_name(user-id)": ["code"],
    "3.14": ["code"],
    "C:\\temp\\x.py": ["code"],
    "a+b && c || !d": ["symbols"],
    "(e) {f} [g] ^h": ["symbols"],
    '"i" ~j k* l? m:n \\o /p': ["symbols"],
    "AND": ["operators"],
    "OR NOT": ["operators", "stop"],
    "to": ["bergen", "operators", "oslo", "stop"],
    "the": ["oslo", "stop"],
    "a": ["stop", "symbols"],
    "NEAR(or not)": [],
    "NEAR (or) not": ["operators"],
    "name:oslo": [],
    "preview:oslo": [],
    '"moved oslo"': ["oslo"],
    "oslo AND mia": [],
    "": [],
    " \n\t": [],
    '"': [],
    "'": [],
    "\\": [],
    "\0": [],
    "* ? ~ ^ ( ) [ ] { } : + - ! && || /": [],
    "' OR '1'='1": [],
    '") OR 1=1 --': [],
    "oslo'); DROP TABLE variable; --": [],
    "oslo}) DETACH DELETE n //": [],
    "[* TO *]": ["bergen", "operators", "oslo", "stop"],
    "oslo\0mia": [],
}
"""What a text finds."""


@pytest.mark.each_engine
async def test_search(texts: GraphStore) -> None:
    """Both engines cut texts into the same words, see ``schema.words``."""
    assert {text: await found(texts, text) for text in FOUND} == FOUND


@pytest.mark.each_engine
async def test_names_and_comments_are_searched_with_the_preview(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    trace.variable(
        "v", "the preview", name="memory_unit_17", comment="made by hand", class_name="Klass", category="cat"
    )
    await trace.write(store)
    for text in ("preview", "unit", "memory_unit_17", "hand", "hand preview memory"):
        assert await found(store, text) == ["v"]
    for text in ("klass", "cat", "text", "Variable"):
        assert await found(store, text) == []


async def test_only_the_preview_of_a_long_value_is_searched(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    trace.variable("v", "early " + "word " * 1000 + " late")
    await trace.write(store)
    assert await found(store, "early") == ["v"]
    assert await found(store, "late") == []


async def test_only_recorded_variables_are_found(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    trace.variable("v", "needle")
    trace.variable("v", "needle", occurrence=1)
    trace.variable("v", "needle", occurrence=2)
    await trace.write(store)
    assert [hit.variable for hit in await store.search("needle")] == trace.variables[:1]


@pytest.mark.each_engine
async def test_a_search_in_one_trace(store: GraphStore, project: str) -> None:
    first, second = TraceBuilder(project, "first"), TraceBuilder(project, "second")
    for trace in (first, second):
        trace.variable(f"of {trace.name}", "needle")
        await trace.write(store)
    assert await found(store, "needle") == ["of first", "of second"]
    assert await found(store, "needle", first.trace.id) == ["of first"]
    assert await found(store, "needle", "0" * 32) == []


async def test_the_limit_takes_the_best(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    for number in range(30):
        trace.variable(f"weak {number}", "needle in a very long stack of hay, " + "hay " * 60)
    trace.variable("strong", "needle needle needle", name="needle")
    await trace.write(store)
    for limit in (1, 7, 30):
        hits = await store.search("needle", limit=limit)
        assert len(hits) == limit
        assert hits[0].variable.external_id == "strong"
    assert len(await store.search("needle", limit=100)) == 31


@pytest.mark.each_engine
async def test_hits_are_chosen_by_kind_and_time_before_they_are_cut(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    for number in range(30):
        trace.variable(f"better {number}", "needle needle needle", name="needle", created_at=moment(number))
    said = "needle in a very long stack of hay, " + "hay " * 60
    trace.variable("late", said, kind=VariableKind.MESSAGE, created_at=moment(100))
    trace.variable("timeless", said, kind=VariableKind.MESSAGE, created_at=None)
    await trace.write(store)

    async def chosen(limit: int = 5, kinds: Sequence[str] = (), **when: datetime) -> list[str]:
        hits = await store.search("needle", None, limit, kinds, Span(**when))
        return sorted(hit.variable.external_id for hit in hits)

    assert await chosen(kinds=["Message"]) == ["late", "timeless"]
    assert len(await chosen(1, kinds=["Message"])) == 1
    assert await chosen(since=moment(100)) == ["late"]
    assert await chosen(until=moment(2)) == ["better 0", "better 1"]
    assert await chosen(since=moment(1), until=moment(2)) == ["better 1"]
    assert len(await chosen(40, kinds=["MemoryUnit", "Message"])) == 32
    assert await chosen(kinds=["Answer"]) == []


@pytest.mark.each_engine
async def test_a_hit_shows_where_the_word_is(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    trace.variable("v", "hay " * 60 + "the Needle, " + "hay " * 40)
    await trace.write(store)
    (hit,) = await store.search("needle")
    assert "Needle" in hit.snippet
    assert len(hit.snippet) < 200


async def test_other_projects_do_not_crowd_out(store: GraphStore, database: Database, project: str) -> None:
    crowd = TraceBuilder(f"{project}-crowd")
    for number in range(400):
        crowd.variable(f"v{number}", "needle needle needle")
    other = database.project(crowd.project)
    await crowd.write(other)
    trace = TraceBuilder(project)
    trace.variable("mine", "one needle in a very long stack of hay " * 8)
    await trace.write(store)
    assert [hit.variable for hit in await store.search("needle", limit=3)] == trace.variables
    assert len(await other.search("needle", limit=3)) == 3
    await other.delete_trace(crowd.trace.id)
    assert await other.search("needle") == []


async def test_a_pasted_message_finds_itself(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    text = " ".join(f"w{number}" for number in range(3000))
    trace.variable("v", text, comment=text)
    trace.variable("short", text[:400])
    await trace.write(store)
    assert await found(store, text[:400]) == ["short", "v"]
    assert await found(store, text) == ["v"]
    assert await found(store, text.replace(" ", "-")) == ["v"]
    assert await found(store, f"{text} absent") == []


async def test_a_very_long_word(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    trace.variable("v", "x" * 400, comment="y" * 100_000)
    trace.variable("w", "é" * 400, comment="ü" * 100_000)
    await trace.write(store)
    assert await found(store, "x" * 400) == ["v"]
    assert await found(store, "y" * 100_000) == ["v"]
    assert await found(store, "É" * 400) == ["w"]
    assert await found(store, "ü" * 100_000) == ["w"]
    assert await found(store, "x" * 10) == []


async def test_what_was_deleted_is_found_no_more(store: GraphStore, project: str) -> None:
    trace = await built(store, project)
    await store.delete_trace(trace.trace.id)
    assert await found(store, "mia") == []
    await trace.write(store)
    assert await found(store, "mia") == ["bergen", "oslo"]
