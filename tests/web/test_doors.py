"""The pages over HTTP: signing in, headers, and escaping of stored text."""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path
from secrets import token_hex
from urllib.parse import quote

import httpx
import pytest

import api.web.pages
from api.auth.browsers import COOKIE
from api.web.pages import words
from api.web.pages.documents import DOCUMENTS
from api.web.pages.opening import Opening
from api.web.pages.routes import PAGES
from api.web.pages.signing import next_of
from schema.kinds import OperationKind, VariableKind
from store.open import open_database
from tests.factory import TraceBuilder
from tests.graphql.world import World
from tests.server.running import RunningServer, certificates, running, sqlite_place
from tests.web.addresses import OPEN, OWN, addresses

_SVG = 'xmlns="http://www.w3.org/2000/svg"'
"""The name of a language, not an address."""

OWN_PAGE = {"Sec-Fetch-Site": "same-origin"}


def visitor(server: RunningServer, key: str | None = None) -> httpx.Client:
    """A client with a key in its cookie; cookies of answers are not kept."""
    headers = {} if key is None else {"Cookie": f"{COOKIE}={key}"}
    return httpx.Client(base_url=server.url, headers=headers, timeout=300, verify=certificates())


@pytest.fixture
def writer(lone: World) -> Iterator[httpx.Client]:
    """A client that is signed in."""
    with visitor(lone.server, lone.server.key("writer", lone.project)) as client:
        yield client


def sign_in(client: httpx.Client, key: str, **more: str) -> httpx.Response:
    """Send the form."""
    return client.post("/ui/sign-in", data={"key": key, **more}, headers=OWN_PAGE)


def test_who_has_no_key_is_sent_to_the_form_and_back(lone: World) -> None:
    with visitor(lone.server) as client:
        assert client.get("/").headers["location"] == "/ui"
        for address in (*OWN.values(), *addresses(lone).values()):
            answer = client.get(address)
            assert answer.status_code == 303
            assert answer.headers["location"] == f"/ui/sign-in?next={quote(address, safe='').replace('%20', '+')}"
            form = client.get(answer.headers["location"])
            assert f'value="{html.escape(address)}"' in form.text
        for address in OPEN.values():
            assert client.get(address).status_code == 200


def test_a_key_opens_and_is_kept_from_scripts(lone: World) -> None:
    key = lone.server.key("reader", lone.project)
    with visitor(lone.server) as client:
        answer = sign_in(client, f" {key} ", next="/ui/help")
        assert (answer.status_code, answer.headers["location"]) == (303, "/ui/help")
        cookie = SimpleCookie(answer.headers["set-cookie"])[COOKIE]
        assert cookie.value == key
        assert (cookie["path"], cookie["samesite"], cookie["domain"]) == ("/", "strict", "")
        assert cookie["secure"]
        assert cookie["httponly"]
        assert not cookie["max-age"]
        assert not cookie["expires"]
    with visitor(lone.server, key) as client:
        assert client.get("/ui").headers["location"] == f"/ui/projects/{lone.project}"
        out = client.post("/ui/sign-out", headers=OWN_PAGE)
        assert SimpleCookie(out.headers["set-cookie"])[COOKIE]["max-age"] == "0"
        assert out.headers["clear-site-data"] == '"storage"'
    assert key not in lone.server.log_text


@pytest.mark.parametrize(
    ("key", "status", "said"),
    [
        ("", 400, "Type the key first"),
        ("mt_ключ", 400, "This is no key"),
        ("a b", 400, "This is no key"),
        ("a;b", 400, "This is no key"),
        ("x" * 5000, 400, "This is no key"),
        ("nobody", 401, "This key opens nothing here|characters that begin with"),
        ("mt_" + "0" * 16 + "_" + "a" * 43, 401, "This api key is unknown"),
    ],
)
def test_what_is_no_key_opens_nothing(lone: World, key: str, status: int, said: str) -> None:
    with visitor(lone.server) as client:
        answer = sign_in(client, key)
        assert answer.status_code == status
        assert re.search(said, answer.text)
        assert "set-cookie" not in answer.headers
        assert not key or key not in answer.text


@pytest.mark.parametrize(
    "next_",
    [
        "https://example.org",
        "//example.org",
        "/\\example.org",
        "/ui\\@example.org",
        "/uix",
        "/v1/export/all",
        "/ui/\n//example.org",
        "javascript:alert(1)",
        " /ui",
        "",
    ],
)
def test_one_is_sent_to_pages_of_ours_alone(lone: World, next_: str) -> None:
    assert next_of(next_) == "/ui"
    with visitor(lone.server) as client:
        answer = sign_in(client, lone.server.key("reader", lone.project), next=next_)
        assert answer.headers["location"] == "/ui"
        form = client.get("/ui/sign-in", params={"next": next_})
        assert 'name="next" value="/ui"' in form.text


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "null"},
        {"Origin": "https://example.org"},
        {"Origin": "http://["},
        {"Sec-Fetch-Site": "cross-site", "Origin": "OURS"},
    ],
)
def test_other_sites_change_nothing(lone: World, writer: httpx.Client, headers: dict[str, str]) -> None:
    host = lone.server.url
    headers = {name: value.replace("OURS", host) for name, value in headers.items()}
    failure = addresses(lone)["failure"]
    key = lone.server.key("reader", lone.project)
    for address, form in (
        (f"{failure}/verdict", {"type": "unknown"}),
        ("/ui/sign-in", {"key": key}),
        ("/ui/sign-out", {}),
        ("/ui/open", {"code": "x"}),
    ):
        answer = writer.post(address, data=form, headers=headers)
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers
    # GraphQL ignores the cookie in every case.
    assert writer.post("/graphql", json={"query": "{ viewer { actor } }"}, headers=headers).status_code == 401


def test_nobody_is_signed_in_by_what_another_has_set(lone: World) -> None:
    """Session fixation: signing in replaces an earlier cookie, and no address signs anybody in."""
    theirs, own = (lone.server.key(role, lone.project) for role in ("reader", "writer"))
    with visitor(lone.server, theirs) as client:
        answer = sign_in(client, own)
        assert SimpleCookie(answer.headers["set-cookie"])[COOKIE].value == own
        # A refused key leaves no cookie: neither the old cookie nor the typed key.
        assert "set-cookie" not in sign_in(client, "mt_" + "0" * 16 + "_" + "a" * 43).headers
    with visitor(lone.server) as client:
        for address in (f"/ui/sign-in?key={theirs}", f"/ui?key={theirs}", f"/ui/open?code={theirs}", f"/ui#{theirs}"):
            answer = client.get(address)
            assert "set-cookie" not in answer.headers, address
            assert client.get(f"/ui/projects/{lone.project}?key={theirs}").status_code == 303
        # Cookies that another host of the domain could set are ignored.
        for name in (COOKIE.removeprefix("__Host-"), COOKIE.lower(), f"{COOKIE}x"):
            headers = {"Cookie": f"{name}={theirs}"}
            assert client.get(f"/ui/projects/{lone.project}", headers=headers).status_code == 303, name


def test_our_own_pages_may_ask_graphql_with_the_cookie(lone: World, writer: httpx.Client) -> None:
    asked = {"query": "{ viewer { actor } }"}
    for headers in (OWN_PAGE, {"Origin": lone.server.url}):
        assert writer.post("/graphql", json=asked, headers=headers).json()["data"]["viewer"]["actor"].startswith("key:")
    # The header counts, not the cookie beside it.
    assert writer.post("/graphql", json=asked, headers=OWN_PAGE | {"Authorization": "Bearer x"}).status_code == 401
    # Other interfaces accept no cookie.
    assert writer.get(f"/v1/values/{lone.ids['unit']}", headers=OWN_PAGE).status_code == 401


def test_every_answer_has_the_strict_headers(lone: World, writer: httpx.Client) -> None:
    for address in (*OPEN.values(), *OWN.values(), *addresses(lone).values(), "/ui/nothing", "/ui", "/"):
        answer = writer.get(address)
        # The policy of the graph page allows the worker's address; the policies of all other pages allow no script URL.
        names = "memtrace-graph; connect-src 'self'" if address.endswith("/graph") else "'none'"
        # Pages that reload themselves, or check the server before they send a form.
        asks = r"/(traces|jobs|failures)/\w+(/memory)?(\?|$)|/(queues|failures|projects/[\w-]+)(\?|$)|/cases/"
        names += "; connect-src 'self'" if re.search(asks, address) else ""
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert policy.endswith(f"require-trusted-types-for 'script'; trusted-types {names}")
        assert "unsafe" not in policy
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["x-frame-options"] == "DENY"
        text = answer.text
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:|https?://", text.replace(_SVG, ""))
        assert re.findall(r"<script[^>]*>([^<]+)</script>", text) == []


def test_a_reader_is_told_and_changes_nothing(lone: World) -> None:
    failure = addresses(lone)["failure"]
    with visitor(lone.server, lone.server.key("reader", lone.project)) as client:
        said = "Your key has the role reader. To give verdicts, sign in with a key that has the role writer."
        assert said in client.get(failure).text
        answer = client.post(f"{failure}/verdict", data={"type": "unknown"}, headers=OWN_PAGE)
        assert answer.status_code == 400
        assert "was not saved" in answer.text
        assert "role writer" in html.unescape(answer.text)


def test_a_form_that_is_none_is_refused(lone: World, writer: httpx.Client) -> None:
    address = f"{addresses(lone)['failure']}/verdict"
    for kind in ("application/json", "multipart/form-data; boundary=x", "text/plain"):
        assert writer.post(address, content=b"{}", headers=OWN_PAGE | {"Content-Type": kind}).status_code == 415
    form = OWN_PAGE | {"Content-Type": "application/x-www-form-urlencoded"}
    assert writer.post(address, content=b"\xff\xfe", headers=form).status_code == 400
    assert writer.post(address, content=b"a=1&" * 200, headers=form).status_code == 400
    assert writer.post(address, content=b"reason=" + b"a" * 300_000, headers=form).status_code == 413
    assert writer.post(address, data={"reason": "why"}, headers=OWN_PAGE).status_code == 400


HOSTILE = (
    "<script>alert(1)</script>",
    "</textarea><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    '" autofocus onfocus="alert(1)',
    "javascript:alert(1)",
    "{{ 7919 * 7927 * 7933 }}{% raw %}",
    "&lt;b&gt;",
    "\x1b[31mred",
    "\u202eedoc",
    "\u2066isolated",
)


@pytest.fixture(scope="module")
def hostile(lone: World) -> dict[str, str]:
    """A project in which all texts are hostile; returns the addresses of its pages."""
    project = f"hostile-{token_hex(4)}"
    all_of_it = " ".join(HOSTILE)
    trace = TraceBuilder(project, all_of_it)
    trace.session(all_of_it)
    operation = trace.operation(all_of_it, name=all_of_it, kind=OperationKind.UPDATE, comment=all_of_it)
    unit = trace.variable(all_of_it, all_of_it, name=all_of_it, kind=VariableKind.MEMORY_UNIT, comment=all_of_it)
    failure = trace.failure(
        trace.variable(f"{all_of_it}?", f"{all_of_it}?", kind=VariableKind.QUERY),
        trace.variable(f"{all_of_it}!", f"{all_of_it}!", kind=VariableKind.ANSWER),
        gold_answers=HOSTILE,
        evidence_ids=(unit.id,),
    )
    trace.attribution(failure, "flow", operation_id=operation.id, reason=all_of_it)

    async def write() -> None:
        async with await open_database(lone.server.place.store) as database:
            await trace.write(database.project(project))

    asyncio.run(write())
    base = f"/ui/projects/{project}"
    return {
        "project": project,
        "overview": base,
        "blame": f"{base}/blame",
        "failures": f"{base}/failures",
        "failure": f"{base}/failures/{failure.id}",
        "trace": f"{base}/traces/{trace.trace.id}",
        "memory": f"{base}/traces/{trace.trace.id}/memory",
        "memory-unit": f"{base}/traces/{trace.trace.id}/memory?unit={unit.id}",
        "compare": f"{base}/compare?before={trace.trace.id}&after={trace.trace.id}",
        "methods": f"{base}/compare?by=methods&before=flow&after=flow",
        "units": f"{base}/traces/{trace.trace.id}?show=units",
        "operation": f"{base}/operations/{operation.id}",
        "variable": f"{base}/variables/{unit.id}",
        "search": f"{base}/search?text=script",
        **{f"said-{place}": f"{base}/failures?text={quote(text)}" for place, text in enumerate(HOSTILE)},
        **{f"filter-{place}": f"{base}/failures?operation={quote(text)}" for place, text in enumerate(HOSTILE)},
        **{f"find-{place}": f"{base}/search?text={quote(text)}" for place, text in enumerate(HOSTILE)},
    }


def test_whatever_is_stored_or_said_shows_as_text(lone: World, hostile: dict[str, str]) -> None:
    shown = 0
    with visitor(lone.server, lone.server.key("writer", hostile["project"])) as client:
        for name, address in hostile.items():
            if name == "project":
                continue
            answer = client.get(address)
            assert answer.status_code == 200, (name, answer.text)
            text = answer.text
            assert text.count("<script") == (2 if name in {"trace", "units", "memory", "memory-unit"} else 1), name
            assert "<img" not in text
            assert not re.search(r"<[^>]*\s(?:on\w+|autofocus)=", re.sub(r'"[^"]*"', '""', text)), name
            assert not re.search(r'(?:href|src|action)="(?!/|#|\?)', text), name
            assert not set(text) & {"\x1b", "\x00", "\u202e", "\u2066"}, name
            assert str(7919 * 7927 * 7933) not in text, name  # no id has this number by chance
            shown += "<script>alert(1)</script>" in html.unescape(text)
    assert shown >= 8


def test_halves_of_surrogate_pairs_and_null_are_no_errors(lone: World, writer: httpx.Client) -> None:
    base = f"/ui/projects/{lone.project}"
    for address in (f"{base}/search?text=%00", f"{base}/failures?text=%00", f"{base}/failures?type=%00&after="):
        assert writer.get(address).status_code == 200
    for address in (f"{base}/failures/%00", f"{base}/variables/%ED%A0%80", f"{base}/traces/..%2f..", f"{base}/nothing"):
        assert writer.get(address).status_code in {400, 404}
    assert writer.get(f"{base}/failures?after=made-up").status_code == 400
    assert words.printable("a\ud800b\x00") == "a\ufffdb\ufffd"


def test_a_value_is_saved_as_a_file_of_no_type(lone: World, hostile: dict[str, str]) -> None:
    with visitor(lone.server, lone.server.key("reader", hostile["project"])) as client:
        answer = client.get(f"{hostile['variable']}/value")
    assert answer.status_code == 200
    assert answer.content.decode() == " ".join(HOSTILE)
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_filters_stand_in_the_address(lone: World, writer: httpx.Client) -> None:
    base = f"/ui/projects/{lone.project}/failures"
    for query, count in (
        ("", 3),
        ("?type=RetrievalError", 1),
        ("?type=RetrievalError&operation=memory_system.search_memory&method=flow", 1),
        ("?type=RetrievalError&operation=memory_system.extract_facts", 0),
        ("?text=WALNUTS", 1),
        ("?method=nobody", 0),
        ("?type=none", 0),
        ("?type=nonsense&labelled=maybe", 3),
        (f"?trace={lone.ids['trace']}", 3),
    ):
        answer = writer.get(base + query)
        assert answer.status_code == 200
        assert answer.text.count('<li class="case"') == count, query


@pytest.mark.full
def test_the_pages_run_where_only_trusted_documents_do(tmp_path: Path) -> None:
    trusted = tmp_path / "trusted.json"
    trusted.write_text("{}")
    settings = {"trusted_documents": trusted, "trusted_documents_only": "true", "introspection": "false"}
    with (
        running(sqlite_place(tmp_path), tmp_path, **settings) as server,
        visitor(server, server.key("reader")) as client,
    ):
        assert "There are no traces yet" in client.get(f"/ui/projects/{server.project}").text
        asked = client.post("/graphql", json={"query": "{ viewer { actor } }"}, headers=OWN_PAGE)
        assert "trusted" in asked.text


def test_every_document_is_used_and_every_page_is_looked_at(lone: World) -> None:
    pages = "".join(path.read_text("utf-8") for path in Path(api.web.pages.__file__).parent.glob("*.py"))
    assert {name for name in DOCUMENTS.names if f'"{name}"' not in pages} == set()
    shown = {re.sub(r"\?.*", "", address).replace(lone.project, "{project}") for address in addresses(lone).values()}
    for id_ in lone.ids.values():
        shown = {address.replace(id_, "{id}") for address in shown}
    looked = {path.replace("{case}", "{id}") for method, path, _ in PAGES if method == "GET"}
    looked -= {"/ui", "/ui/help", "/ui/me"}
    data = {
        "/ui/projects/{project}/queues/{id}/labels",
        "/ui/projects/{project}/failures/saved",
        # This project has no dispute; test_annotating tests the page.
        "/ui/projects/{project}/queues/{id}/disputes/{id}",
        "/ui/projects/{project}/variables/{id}/value",
        "/ui/projects/{project}/variables/{id}/graph/data",
    }
    assert looked - shown == data


def test_a_way_in_is_good_once_and_not_for_long() -> None:
    told: list[str] = []
    opening = Opening("mt_key", told.append)
    opening.tell("http://127.0.0.1:1")
    assert told == [f"http://127.0.0.1:1/ui/open#{opening.code}"]
    assert opening.take("x") is None
    assert opening.take("ü\ud800") is None
    assert opening.take(opening.code) == "mt_key"
    assert opening.take(opening.code) is None
    late = Opening("mt_key", told.append, seconds=-1)
    assert late.take(late.code) is None
