"""What schemathesis does not think of, sent to every route of HTTP: it is refused, and never breaks the server."""

from __future__ import annotations

from collections.abc import Mapping

import httpx
import hypothesis
import pytest
from hypothesis import strategies as st

from tests.fuzz.strange import documents, words
from tests.fuzz.test_doors import EXAMPLES
from tests.graphql.world import World

pytestmark = pytest.mark.one_engine

ROUTES: Mapping[str, tuple[str, ...]] = {
    "/v1/attributions": ("failureIds", "traceId", "method", "goldFree", "retrieveEvidence", "minConfidence"),
    "/v1/reports": ("traceIds", "failureIds", "source"),
    "/v1/events": ("type", "trace", "id", "at", "value", "attributes", "version", "operation"),
    "/v1/import": ("nodes", "edges", "graph_id", "metadata"),
}
KINDS = ("application/json", "application/x-ndjson", "application/json; charset=utf-16", "text/plain", "")
ADDRESSES = (
    "/v1/values/{}",
    "/v1/export/{}",
    "/v1/jobs/{}",
    "/v1/reports/{}",
    "/v1/reports/x?format={}",
    "/v1/values/x?project={}",
    "/v1/import?name={}",
    "/v1/import?timezone={}",
    "/{}",
    "/v1/{}",
)
HEADERS = ("Range", "If-Range", "If-None-Match", "Accept-Encoding", "Idempotency-Key", "X-Request-Id")

_settings = hypothesis.settings(
    max_examples=20 * EXAMPLES,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)


def check(answer: httpx.Response, sent: object) -> None:
    """Refused or answered, in the form of the door."""
    assert answer.status_code < 500, (sent, answer.text)
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json", (sent, answer.text)
        assert answer.json()["status"] == answer.status_code


@pytest.mark.parametrize("path", ROUTES)
def test_bodies(world: World, path: str) -> None:
    with world.server.client("writer", world.project) as client:

        @_settings
        @hypothesis.given(body=documents(ROUTES[path]), kind=st.sampled_from(KINDS))
        def send(body: bytes, kind: str) -> None:
            check(client.post(path, content=body, headers={"Content-Type": kind} if kind else {}), (kind, body[:300]))

        send()


def test_addresses_and_headers(world: World) -> None:
    with world.server.client("admin", world.project) as client:

        @_settings
        @hypothesis.given(
            st.sampled_from(ADDRESSES),
            words(),
            st.sampled_from(["GET", "POST", "DELETE"]),
            st.dictionaries(st.sampled_from(HEADERS), words().map(lambda word: word[:200]), max_size=2),
        )
        def send(address: str, word: str, method: str, headers: dict[str, str]) -> None:
            request = client.build_request(method, "/", headers=headers)
            request.url = request.url.copy_with(raw_path=address.format(word).encode())
            check(client.send(request), (method, address, word, headers))

        send()
