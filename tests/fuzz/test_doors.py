"""Schemathesis against GraphQL and HTTP: no request makes the server fail, whatever it holds.

``MEMTRACE_FUZZ_EXAMPLES`` is how many requests each field and route gets; ``make fuzz`` sends more than 10,000 in all.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable
from typing import Any

import hypothesis
import pytest
import schemathesis
from hypothesis import strategies as st
from schemathesis import Case
from schemathesis.checks import not_a_server_error

from tests.fuzz.strange_graphql import MOMENTS
from tests.graphql.world import World

pytestmark = pytest.mark.one_engine

EXAMPLES = int(os.environ.get("MEMTRACE_FUZZ_EXAMPLES") or 5)

_settings = hypothesis.settings(
    max_examples=EXAMPLES,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
    phases=[hypothesis.Phase.generate],
)


def _fuzz(schema: Any, check: Callable[[Case[Any]], None]) -> int:
    """Check requests to each operation; how many there were."""
    sent = 0
    for found in schema.get_all_operations():

        @_settings
        @hypothesis.given(case=found.ok().as_strategy())
        def run(case: Case[Any]) -> None:
            nonlocal sent
            sent += 1
            check(case)

        run()
    return sent


def test_graphql(world: World) -> None:
    headers = world.server.headers("admin", world.project)

    def check(case: Case[Any]) -> None:
        assert isinstance(case.body, str)
        case.body = _aimed(case.body, world)
        response = case.call(headers=headers)
        assert response.status_code in {200, 400, 413}, (case.body, response.text)
        for code in ("INTERNAL", "UNAVAILABLE", "TIMEOUT"):
            assert f'"{code}"' not in response.text, (case.body, response.text)

    moments = st.one_of(st.sampled_from(MOMENTS), st.datetimes(timezones=st.timezones()).map(str))
    schemathesis.graphql.scalar("DateTime", moments.map(_written).map(schemathesis.graphql.nodes.String))
    schema = schemathesis.graphql.from_url(f"{world.server.url}/graphql", headers=headers)
    assert _fuzz(schema, check) >= 10 * EXAMPLES


def test_http(world: World) -> None:
    headers = world.server.headers("admin", world.project)

    def check(case: Case[Any]) -> None:
        response = case.call(headers=headers)
        case.validate_response(response, checks=[not_a_server_error])
        if response.status_code >= 400:
            assert response.headers["content-type"][0].startswith("application/problem+json"), response.text

    assert _fuzz(schemathesis.openapi.from_url(f"{world.server.url}/openapi.json"), check) >= 5 * EXAMPLES


def _written(text: str) -> str:
    """A text that a document can hold; others are for ``test_graphql``."""
    return text.encode("utf-8", "replace").decode()


def _aimed(document: str, world: World) -> str:
    """The document with texts that mean something in the place of most: all others end at the first lookup."""
    if "deleteTrace" in document:
        return document  # the others need it
    chance = random.Random(document)
    ids = [*world.ids.values(), "assistant-sample"]

    def argument(found: re.Match[str]) -> str:
        if chance.random() < 0.2:
            return found[0]
        name = found[1]
        text = world.project if name in {"name", "project"} else chance.choice(ids)
        return f'{name}: "{text}"'

    return re.sub(r'\b(name|project|id|reference|trace|source|target|before|after): "[^"\n]*"', argument, document)
