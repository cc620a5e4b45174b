"""Addresses that people type without knowing them lead to the page that is meant."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.graphql.world import World
from tests.web.test_doors import visitor


@pytest.fixture
def writer(lone: World) -> Iterator[httpx.Client]:
    with visitor(lone.server, lone.server.key("writer", lone.project)) as client:
        yield client


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("/ui/failures", "/failures"),
        ("/ui/errors?q=pottery", "/failures?q=pottery"),
        ("/ui/failures/02df014d", "/failures/02df014d"),
        ("/ui/answers/", "/answers"),
        ("/ui/answers/7a7b5616", "/variables/7a7b5616"),
        ("/ui/traces", ""),
        ("/ui/keys", "/settings"),
        ("/ui/annotate", "/queues"),
        ("/ui/projects/PROJECT/answers/7a7b5616", "/variables/7a7b5616"),
        ("/ui/projects/PROJECT/traces", ""),
        ("/ui/dashboard", ""),
        ("/ui/trace/53341c53/timeline", "/traces/53341c53"),
        ("/ui/projects/PROJECT/traces/53341c53/operations", "/traces/53341c53"),
        ("/ui/memory/c6764584/history", "/variables/c6764584"),
        ("/ui/answers/7a7b5616/lineage", "/variables/7a7b5616/graph"),
        ("/ui/projects/PROJECT/memory/7a7b5616/graph", "/variables/7a7b5616/graph"),
    ],
)
def test_a_guess_leads_to_the_page(writer: httpx.Client, lone: World, typed: str, meant: str) -> None:
    answer = writer.get(typed.replace("PROJECT", lone.project))
    assert (answer.status_code, answer.headers["location"]) == (303, f"/ui/projects/{lone.project}{meant}")


def test_ui_may_be_left_out(writer: httpx.Client) -> None:
    assert writer.get("/failures/02df014d?q=x").headers["location"] == "/ui/failures/02df014d?q=x"
    assert writer.get("/answers").headers["location"] == "/ui/answers"


@pytest.mark.parametrize("address", ["/ui/nothing", "/ui/blame/7a7b5616", "/ui/projects/PROJECT/nothing"])
def test_other_addresses_are_still_nothing(writer: httpx.Client, lone: World, address: str) -> None:
    answer = writer.get(address.replace("PROJECT", lone.project))
    assert answer.status_code == 404
    assert "There is no such page." in answer.text


def test_the_id_of_an_answer_leads_from_failures_to_the_answer(writer: httpx.Client, lone: World) -> None:
    answer = writer.get(f"/ui/projects/{lone.project}/failures/{lone.ids['answer']}")
    assert (answer.status_code, answer.headers["location"]) == (
        303,
        f"/ui/projects/{lone.project}/variables/{lone.ids['answer']}",
    )
    assert writer.get(f"/ui/projects/{lone.project}/failures/12345678").status_code == 404


def test_types_and_operations_in_addresses_may_be_parts(writer: httpx.Client, lone: World) -> None:
    base = f"/ui/projects/{lone.project}/failures"
    whole = writer.get(f"{base}?type=UpdateError&operation=memory_system.update_memory_decision").text
    assert writer.get(f"{base}?type=update&operation=Update").text == whole
    assert "On which day of the week" in whole
    assert "No failure matches" in writer.get(f"{base}?operation=memory_system").text  # three operations have this part


def test_compare_may_name_its_sides_in_other_words(writer: httpx.Client, lone: World) -> None:
    base, id_ = f"/ui/projects/{lone.project}/compare", lone.ids["trace"]
    plain = writer.get(f"{base}?before={id_}&after={id_}").text
    assert writer.get(f"{base}?a={id_}&b={id_}").text == plain
    assert writer.get(f"{base}?baseline={id_}&candidate={id_}").text == plain
    right = writer.get(f"{base}?a={id_[:8]}&b={id_[:8]}&show=stillRight").text
    assert "<bdi>In which town is Mara&#39;s cottage?</bdi>" in right  # recorded as JSON, with quotes
    assert f'value="{id_}" selected' in right


def test_health_goes_by_the_names_of_other_servers(writer: httpx.Client) -> None:
    for name, meant in (("health", "/healthz"), ("livez", "/healthz"), ("ready", "/readyz")):
        assert writer.get(f"/{name}").headers["location"] == meant


def test_a_guess_leads_nowhere_in_circles(writer: httpx.Client, lone: World) -> None:
    address = f"/ui/projects/{lone.project}/failures/02df014d/nothing"
    assert writer.get(address).status_code == 404


def test_filters_have_other_names(writer: httpx.Client, lone: World) -> None:
    base = f"/ui/projects/{lone.project}"
    for page in ("answers", "failures", "search"):
        assert writer.get(f"{base}/{page}?q=pottery").text == writer.get(f"{base}/{page}?query=pottery").text
        assert 'value="pottery"' in writer.get(f"{base}/{page}?q=pottery").text


def test_who_asks_for_no_address_is_told_which_there_are(writer: httpx.Client) -> None:
    told = writer.get("/docs").json()
    assert (told["status"], told["detail"]) == (404, "Not Found")
    assert "POST /graphql" in told["hint"]
    assert "/openapi.json" in told["hint"]
    assert "{ project { failures(first: 5) { nodes { id } } } }" in writer.get("/api/failures?limit=5").json()["hint"]
