"""Web pages of whatever is stored and whatever an address says: text stays text, and nothing breaks the server."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from secrets import token_hex
from typing import Any

import httpx
import hypothesis
import pytest
from hypothesis import strategies as st

from schema.kinds import OperationKind, VariableKind
from store.contract.protocol import Database
from tests.factory import TraceBuilder
from tests.fuzz.strange import words
from tests.fuzz.test_doors import EXAMPLES
from tests.graphql.world import World
from tests.web.addresses import addresses
from tests.web.test_doors import visitor

pytestmark = pytest.mark.one_engine

_MARKUP = (
    "<script>alert(1)</script>",
    "</script><svg onload=alert(1)>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</textarea></title></style><iframe src=javascript:alert(1)>",
    "javascript:alert(1)",
    "data:text/html,<b>",
    "<!--",
    "]]>",
    "{{ 7 * 191 }}{% raw %}",
    "&#60;b&#62;&lt;i&gt;",
    "\x1b[31m\x1b]8;;http://example.org\x07link",
    "\u202etxt.exe",
    "\u2066\u2067\u2069",
    "\u200f\u061c",
    "a\x00b",
    "\ufffe\uffff",
    "\x7f\x80\x9b31m",
    "\r\n\u2028\u2029",
)
_HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What a browser would obey, or not show."""

_LINKS = {"href", "src", "action", "formaction", "xlink:href", "poster", "data"}
_NAMES = ("after", "asOf", "before", "by", "compare", "depth", "direction", "end", "find", "from", "kind", "labelled")
_MORE = (
    "live",
    "method",
    "offset",
    "operation",
    "saved",
    "show",
    "sort",
    "status",
    "sure",
    "text",
    "trace",
    "type",
    "unit",
)

_settings = hypothesis.settings(
    max_examples=EXAMPLES, database=None, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
)
_strange = st.lists(
    st.one_of(st.sampled_from(_MARKUP), st.text(st.characters(exclude_categories=["Cs"]), max_size=12)),
    min_size=1,
    max_size=4,
).map("".join)


class _Skeleton(HTMLParser):
    """The elements of a page, and what is wrong with them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.wrong: list[object] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name.startswith("on") or name in {"style", "srcdoc", "autofocus"}:
                is_own = name == "autofocus" and tag == "input"  # of the form for a key
                self.wrong += [] if is_own else [(tag, name, value)]
            if name in _LINKS and not re.match(r"[/?#]", value or ""):
                self.wrong.append((tag, name, value))
        self.scripts += tag == "script"
        if tag == "script" and not re.match(r"/ui/assets/\w+/[\w/]+\.js$", dict(attrs).get("src") or ""):
            self.wrong.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        if _HIDDEN.search(data):
            self.wrong.append(data)


def check(answer: httpx.Response, sent: object, tags: set[str] | None = None) -> None:
    """A page, or a page that says what is wrong; with no element but those of pages."""
    assert answer.status_code < 500, (sent, answer.text)
    if answer.headers.get("content-type", "").startswith("text/html"):
        skeleton = _Skeleton()
        skeleton.feed(answer.text)
        skeleton.close()
        assert skeleton.wrong == [], (sent, skeleton.wrong)
        assert skeleton.scripts <= 3, sent
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        if tags is not None:
            assert skeleton.tags <= tags, (sent, skeleton.tags - tags)


@pytest.fixture(scope="module")
def client(world: World) -> Iterator[httpx.Client]:
    with visitor(world.server, world.server.key("writer", world.project)) as found:
        yield found


def _stored(world: World, texts: list[str]) -> dict[str, str]:
    """Store a project whose every text field holds one of ``texts``; return the addresses of its pages."""
    project = f"fuzz-{token_hex(6)}"
    one, two, three, four = (texts * 4)[:4]
    trace = TraceBuilder(project, one)
    trace.session(two)
    operation = trace.operation(three, name=four, kind=OperationKind.UPDATE, comment=one, category=two)
    unit = trace.variable(f"unit {one}", four, operation, name=two, kind=VariableKind.MEMORY_UNIT, comment=three)
    later = trace.variable(f"later {one}", f"{one} {three}", name=two, kind=VariableKind.MEMORY_UNIT, version=1)
    question = trace.variable(f"question {two}", f"{one}?", kind=VariableKind.QUERY)
    answer = trace.variable(f"answer {three}", f"{two}!", operation, kind=VariableKind.ANSWER)
    trace.derive(answer, question, unit, by=operation)
    failure = trace.failure(question, answer, gold_answers=(three, four), evidence_ids=(unit.id,))
    trace.attribution(failure, "flow", operation_id=operation.id, reason=one)
    trace.attribution(failure, "human", operation_id=operation.id, reason=two, author=four or "x")

    async def write() -> None:
        database: Database
        async with await world.server.place.opened() as database:
            await trace.write(database.project(project))

    asyncio.run(write())
    base = f"/ui/projects/{project}"
    return {
        "project": project,
        "overview": base,
        "blame": f"{base}/blame?by=unit",
        "failures": f"{base}/failures?sort=operation",
        "failure": f"{base}/failures/{failure.id}",
        "trace": f"{base}/traces/{trace.trace.id}",
        "memory": f"{base}/traces/{trace.trace.id}/memory?unit={unit.id}",
        "compare": f"{base}/compare?by=methods&before=flow&after=human",
        "operation": f"{base}/operations/{operation.id}",
        "variable": f"{base}/variables/{later.id}?compare={unit.id}",
        "impact": f"{base}/variables/{question.id}/impact",
        "queues": f"{base}/queues",
        "search": f"{base}/search?text=unit",
    }


def test_what_is_stored(world: World, client: httpx.Client) -> None:
    plain = _stored(world, ["plain_words.of/all", "sorts: and-kinds", "without", "any markup"])
    tags: dict[str, set[str]] = {}
    with visitor(world.server, world.server.key("reader", plain["project"])) as reader:
        for name, address in plain.items():
            if name != "project":
                skeleton = _Skeleton()
                skeleton.feed(reader.get(address).text)
                tags[name] = skeleton.tags
    # What differs between two texts depends on them, and so does whether a filter is offered.
    known = set().union(*tags.values()) | {
        "del",
        "ins",
        "mark",
        "option",
        "label",
        "select",
        "code",
        "svg",
        "rect",
        "wbr",
    }

    @_settings
    @hypothesis.given(st.lists(_strange, min_size=1, max_size=4))
    def store(texts: list[str]) -> None:
        found: dict[str, Any] = _stored(world, texts)
        with visitor(world.server, world.server.key("reader", found["project"])) as reader:
            for name, address in found.items():
                if name != "project":
                    answer = reader.get(address)
                    assert answer.status_code == 200, (name, texts, answer.text)
                    check(answer, (name, texts), known)

    store()


def test_what_an_address_says(world: World, client: httpx.Client) -> None:
    pages = [address.partition("?")[0] for address in addresses(world).values()]
    texts = st.one_of(words(), _strange.map(lambda text: str(httpx.QueryParams({"x": text}))[2:]))

    @hypothesis.settings(_settings, max_examples=5 * EXAMPLES)
    @hypothesis.given(
        st.sampled_from(pages), st.lists(st.tuples(st.sampled_from(_NAMES), texts), min_size=1, max_size=3)
    )
    def look(page: str, said: list[tuple[str, str]]) -> None:
        query = "&".join(f"{name}={text[:500]}" for name, text in said)
        request = client.build_request("GET", "/")
        request.url = request.url.copy_with(raw_path=f"{page}?{query}".encode("ascii", "ignore"))
        check(client.send(request), (page, query))

    look()


def test_what_stands_in_the_place_of_an_id(world: World, client: httpx.Client) -> None:
    pages = sorted({re.sub(r"[0-9a-f]{32}", "{}", address.partition("?")[0]) for address in addresses(world).values()})
    pages = [page.replace(world.project, "{}") if "{}" not in page else page for page in pages]

    @hypothesis.settings(_settings, max_examples=2 * EXAMPLES)
    @hypothesis.given(st.sampled_from(pages), words())
    def look(page: str, word: str) -> None:
        request = client.build_request("GET", "/")
        request.url = request.url.copy_with(raw_path=page.replace("{}", word[:300]).encode("ascii", "ignore"))
        check(client.send(request), (page, word))

    look()
