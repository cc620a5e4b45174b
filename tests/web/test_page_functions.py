"""Functions of pages with odd addresses, missing things, refused acts and bounds: the documents and the values."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.datastructures import QueryParams
from starlette.responses import Response

from api.errors import TooLargeError
from api.graphql.lineage import MAX_HOPS
from api.web.pages import compare, graph, graph_marks, jobs, judging, memory, queue_failure, settings, variable
from api.web.pages.asking import MissingError, PageError, Viewer, check_done
from api.web.pages.shown import PageRequest, Shown
from api.web.pages.signing import form_of, next_of

Answers = Callable[..., Any]


class _Viewer:
    """A viewer whose documents have these answers; an error is raised."""

    def __init__(self, answer: Answers) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self._answer = answer

    async def ask_project(self, name: str, project: str, /, **variables: Any) -> Any:
        """See ``Viewer``."""
        assert project == "p"
        self.asked.append((name, variables))
        found = self._answer(name, **variables)
        if isinstance(found, Exception):
            raise found
        return found

    do = ask_project


def _request(form: dict[str, str] | None = None, **said: Any) -> Any:
    query = urlencode(said, doseq=True)
    body = urlencode(form or {}).encode()

    async def stream() -> Any:
        yield body

    return SimpleNamespace(
        query_params=QueryParams(query),
        path_params={"project": "p", "id": "x", "case": "c"},
        url=SimpleNamespace(query=query),
        headers={"content-type": "application/x-www-form-urlencoded"},
        stream=stream,
    )


def _asked(answer: Answers, form: Any = None, **said: Any) -> PageRequest:
    return PageRequest(_Viewer(answer), _request(form, **said))  # type: ignore[arg-type]


def _documents(asked: PageRequest) -> list[tuple[str, dict[str, Any]]]:
    return asked.viewer.asked  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize(
    ("said", "number"),
    [
        ("7", 7),
        ("0", 0),
        ("", 0),
        (None, 0),
        ("-1", 0),
        ("x", 0),
        ("\u0663", 0),
        ("9" * 15, int("9" * 15)),
        ("9" * 16, 0),
    ],
)
def test_a_number_of_the_address(said: str | None, number: int) -> None:
    assert _asked(print, **({} if said is None else {"offset": said})).number("offset") == number


@pytest.mark.parametrize(
    ("said", "least", "place"),
    [
        (None, 0, (None, None)),
        ("", 0, (None, None)),
        ("0", 0, (0, None)),
        ("3", 3, (3, None)),
        (str(2**31 - 1), 0, (2**31 - 1, None)),
        ("2", 3, "“2”, which the address gives as asOf, is no step: it takes a whole number from 3."),
        (str(2**31), 0, f"“{2**31}”, which the address gives as asOf, is no step: it takes a whole number from 0."),
        ("x" * 50, 0, f"“{'x' * 40}”, which the address gives as asOf, is no step: it takes a whole number from 0."),
        ("\u0663", 0, "“\u0663”, which the address gives as asOf, is no step: it takes a whole number from 0."),
    ],
)
def test_a_place_of_the_address(said: str | None, least: int, place: Any) -> None:
    asked = _asked(print, **({} if said is None else {"asOf": said}))
    assert asked.place("asOf", "step", least) == (place if isinstance(place, tuple) else (None, place))


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("NOT_FOUND", 404),
        ("FORBIDDEN", 403),
        ("BAD_INPUT", 400),
        ("AMBIGUOUS", 400),
        ("CONFLICT", 409),
        ("TOO_LARGE", 413),
        ("RATE_LIMITED", 429),
        ("UNAVAILABLE", 503),
        ("TIMEOUT", 504),
        ("INTERNAL", 500),
        (None, 500),
    ],
)
async def test_an_error_of_a_document_has_a_status(code: str | None, status: int) -> None:
    error = SimpleNamespace(
        message="told", extensions=code and {"code": code}, path=["project", "traces", 3, "name", 0]
    )

    class _Schema:
        async def execute(self, text: str, **more: Any) -> Any:
            return SimpleNamespace(errors=[error], data=None)

    viewer = Viewer(_Schema(), None)  # type: ignore[arg-type]
    with pytest.raises(PageError) as caught:
        await viewer.ask("jobs", project="p")
    assert (caught.value.status, str(caught.value), caught.value.field) == (status, "told", "name")
    assert caught.value.is_of("x", "name") is (status == 400)
    assert not caught.value.is_of("x")
    error.path = None
    with pytest.raises(PageError) as caught:
        await viewer.ask("jobs", project="p")
    assert caught.value.field is None


async def test_an_unknown_project_is_missing() -> None:
    asked: list[Any] = []

    class _Schema:
        async def execute(self, text: str, variable_values: Any, context_value: Any) -> Any:
            asked.append((variable_values, context_value))
            return SimpleNamespace(errors=None, data={"project": None, "done": {"a": 1}})

    viewer = Viewer(_Schema(), "context")  # type: ignore[arg-type]
    with pytest.raises(MissingError) as caught:
        await viewer.ask_project("jobs", "p", after="a")
    said = (caught.value.status, str(caught.value))
    assert said == (404, "There is no such project, or your key does not open it.")
    assert await viewer.do("stop_job", "p", id="x") == {"a": 1}
    assert asked == [({"project": "p", "after": "a"}, "context"), ({"project": "p", "id": "x"}, "context")]


@pytest.mark.parametrize(
    ("done", "status", "told"),
    [
        (
            {"__typename": "NotFound", "message": "x", "code": "y"},
            404,
            "There is no such key, or your key does not open it.",
        ),
        ({"__typename": "Refused", "message": "it is late", "code": "CONFLICT"}, 409, "It is late."),
        ({"__typename": "Refused", "message": "it is late", "code": "NEW"}, 400, "It is late."),
    ],
)
def test_a_refused_act_is_told(done: dict[str, Any], status: int, told: str) -> None:
    with pytest.raises(PageError) as caught:
        check_done(done, "key")
    assert (caught.value.status, str(caught.value)) == (status, told)
    check_done({"__typename": "Done"}, "key")


@pytest.mark.parametrize(
    ("said", "address"),
    [
        (None, "/ui"),
        ("/ui", "/ui"),
        ("/ui/projects/p?x=1", "/ui/projects/p?x=1"),
        ("/ui?x", "/ui?x"),
        ("/uix", "/ui"),
        ("//evil", "/ui"),
        ("/ui\\evil", "/ui"),
        ("/ui/\\evil", "/ui"),
        ("https://evil/ui", "/ui"),
        ("/ui/a\nb", "/ui"),
    ],
)
def test_a_sign_in_leads_to_our_own_pages(said: str | None, address: str) -> None:
    assert next_of(said) == address


async def test_a_form_is_read_within_bounds() -> None:
    request = _request({"a": "1", "b": "ü"})
    assert await form_of(request) == {"a": "1", "b": "ü"}
    size = len(urlencode({"a": "1", "b": "ü"}))
    assert await form_of(request, size) == {"a": "1", "b": "ü"}
    with pytest.raises(TooLargeError) as large:
        await form_of(request, size - 1)
    assert str(large.value) == f"the form is larger than the limit of {size - 1} bytes"
    request.headers = {"content-type": "application/json"}
    with pytest.raises(PageError) as caught:
        await form_of(request)
    assert (caught.value.status, str(caught.value)) == (415, "This is not the form of a page.")


def _page(ids: list[str], end: str | None) -> Any:
    return {"project": {"failures": {"nodes": [{"id": one} for one in ids], "pageInfo": {"endCursor": end}}}}


def _starting(*pages: Any) -> Answers:
    left = list(pages)

    def answer(name: str, **_: Any) -> Any:
        return left.pop(0) if name == "failure_ids" else {"__typename": "JobStarted", "job": {"id": "j1"}}

    return answer


@pytest.mark.parametrize(
    ("form", "wanted"),
    [
        ({}, {"method": "flow"}),
        ({"how": "walk", "trace": "t"}, {"method": "walk", "trace": "t"}),
        ({"text": "tea", "trace": "t"}, {"method": "flow", "failures": ["a", "b", "c"]}),
    ],
)
async def test_a_job_is_for_the_failures_of_the_filter(form: dict[str, str], wanted: dict[str, Any]) -> None:
    asked = _asked(_starting(_page(["a", "b"], "more"), _page(["c"], None)), form)
    answer = await jobs.attribute(asked)
    assert (answer.status_code, answer.headers["location"]) == (303, "/ui/projects/p/jobs/j1")
    assert _documents(asked)[-1] == ("attribute", {"input": wanted})
    afters = [variables["after"] for name, variables in _documents(asked) if name == "failure_ids"]
    assert afters == ([None, "more"] if "failures" in wanted else [])


@pytest.mark.parametrize(
    ("form", "pages", "told"),
    [
        ({"how": "magic"}, [], "Choose how the causes are to be found."),
        ({"text": "x"}, [_page([], None)], "No failure matches any more, so there is nothing to do."),
        (
            {"text": "x"},
            [_page(["a"] * 10_000, "b"), _page(["a"], None)],
            "More than 10,000 failures match. Choose less, or show all and start with these.",
        ),
    ],
)
async def test_a_job_that_cannot_be_started_is_told(form: dict[str, str], pages: list[Any], told: str) -> None:
    with pytest.raises(PageError) as caught:
        await jobs.attribute(_asked(_starting(*pages), form))
    assert (caught.value.status, str(caught.value)) == (400, told)


async def test_as_many_failures_as_a_job_may_have() -> None:
    asked = _asked(_starting(_page(["a"] * 10_000, None)), {"text": "x"})
    assert (await jobs.attribute(asked)).status_code == 303


@pytest.mark.parametrize(
    ("state", "role", "is_over", "may_stop"),
    [("running", "reader", False, False), ("queued", "writer", False, True), ("done", "admin", True, True)],
)
async def test_a_job_that_is_not_over_may_be_stopped(state: str, role: str, is_over: bool, may_stop: bool) -> None:
    for kind, result, kinds in (
        ("attribute", {"errorTypes": {"a": 1}}, {"a": 1}),
        ("import", {"errorTypes": 1}, {}),
        ("attribute", None, {}),
    ):
        one = {"state": state, "kind": kind, "result": result}
        found = await jobs.job(_asked(lambda *_, one=one, **__: {"project": {"role": role, "job": one}}))
        assert (found.values["is_over"], found.values["may_stop"], found.values["kinds"]) == (is_over, may_stop, kinds)
    with pytest.raises(MissingError, match="There is no such job"):
        await jobs.job(_asked(lambda *_, **__: {"project": {"role": role, "job": None}}))


def _memory(operations: int = 3, count: int = 1, unit: Any = None, nodes: Any = ()) -> Answers:
    def answer(name: str, **_: Any) -> Any:
        trace = {
            "id": "t",
            "counts": {"operations": operations},
            "memory": {"count": count, "unit": unit, "review": "reviewed"},
            "operations": {"nodes": list(nodes)},
        }
        return {"project": {"trace": trace}}

    return answer


@pytest.mark.parametrize(
    ("said", "operations", "place", "as_of", "problem"),
    [
        ({}, 3, 2, None, None),
        ({}, 0, 0, None, None),
        ({"asOf": "1"}, 3, 1, 1, None),
        ({"asOf": "2"}, 3, 2, 2, None),
        ({"asOf": "3"}, 3, 2, 3, "The trace has only 3 steps; this is its memory after the last one."),
        ({"asOf": "9"}, 1, 0, 9, "The trace has only 1 step; this is its memory after the last one."),
        (
            {"asOf": "x"},
            3,
            2,
            None,
            "“x”, which the address gives as asOf, is no step of the trace: it takes a whole number from 0.",
        ),
    ],
)
async def test_a_memory_is_shown_at_a_moment(
    said: dict[str, str], operations: int, place: int, as_of: int | None, problem: str | None
) -> None:
    asked = _asked(_memory(operations, nodes=["step"]), **said)
    values = (await memory.memory(asked)).values
    assert (values["place"], values["as_of"], values["problem"]) == (place, as_of, problem)
    assert values["last"] == max(0, operations - 1)
    assert values["step"] == ("step" if as_of is not None and as_of < operations else None)
    name, variables = _documents(asked)[0]
    assert (name, variables["asOf"], variables["at"]) == ("memory", as_of, as_of or 0)
    assert (variables["all"], variables["one"], variables["unit"]) == (True, False, "")


@pytest.mark.parametrize(
    ("count", "said", "review", "may_look"),
    [
        (600, {}, "reviewed", False),
        (601, {}, None, True),
        (601, {"look": "1"}, "reviewed", False),
        (1, {"after": "a"}, None, False),
        (1, {"unit": "u"}, None, False),
    ],
)
async def test_a_small_memory_is_looked_through(
    count: int, said: dict[str, str], review: str | None, may_look: bool
) -> None:
    asked = _asked(_memory(count=count, unit={"versions": []}), **said)
    values = (await memory.memory(asked)).values
    assert (values["review"], values["may_look"], values["is_first"]) == (review, may_look, "after" not in said)


async def test_versions_that_are_too_different_are_not_compared() -> None:
    def answer(name: str, **variables: Any) -> Any:
        if variables.get("changes"):
            return PageError(400, "too large", "change")
        return _memory(unit={"versions": [{"variable": {"id": "v"}, "change": None}]})(name)

    values = (await memory.memory(_asked(answer, unit="u"))).values
    assert (values["compares"], values["rows"], values["said_unit"]) == (False, {}, "u")
    with pytest.raises(PageError, match="too large"):  # without a unit there is nothing to leave out
        await memory.memory(_asked(answer))
    with pytest.raises(PageError, match="late"):
        await memory.memory(_asked(lambda *_, **__: PageError(504, "late", "change"), unit="u"))
    with pytest.raises(MissingError, match="There is no such memory unit"):
        await memory.memory(_asked(_memory(), unit="u"))
    with pytest.raises(MissingError, match="There is no such trace"):
        await memory.memory(_asked(lambda *_, **__: {"project": {"trace": None}}))


def test_short_versions_are_shown_with_their_changes() -> None:
    def version(id_: str, text: str, size: int | None = None) -> dict[str, Any]:
        return {"variable": {"id": id_, "preview": text, "size": len(text.encode()) if size is None else size}}

    versions = [
        version("a", "I have a cat"),
        version("b", "I have a dog"),
        version("c", "I have a dog"),
        version("d", "long", 9_999),
        version("e", "I have ü"),
        version("f", "I have two"),
    ]
    found = memory._evolved(versions)
    assert set(found) == {"b", "f"}
    assert [(text.strip(), state) for text, state in found["b"] if state != "same"] == [("cat", "gone"), ("dog", "new")]


STEP = {"holds": True, "variable": {"id": "a"}}


def _path(*steps: tuple[bool, str | None]) -> list[dict[str, Any]]:
    return [{"holds": holds, "variable": None if id_ is None else {"id": id_}} for holds, id_ in steps]


@pytest.mark.parametrize(
    ("path", "marks"),
    [
        ([], {}),
        (_path((True, "a")), {"a": "last"}),
        (_path((True, "a"), (True, "b")), {"a": "held", "b": "last"}),
        (_path((True, "a"), (True, "b"), (False, "c"), (False, "d")), {"a": "held", "b": "held", "c": "lost"}),
        (_path((True, "a"), (False, None), (True, "c")), {"a": "last"}),
        (_path((True, "a"), (True, None), (False, "a")), {"a": "last"}),
        (_path((False, "a"), (True, "b")), {"b": "last"}),
        (_path((False, "a")), {}),
    ],
)
def test_a_way_ends_where_the_piece_is_lost(path: list[dict[str, Any]], marks: dict[str, str]) -> None:
    assert graph_marks._marks(path) == marks


def test_a_loss_stays_a_loss_beside_other_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    losses = [
        {"reached": False, "path": _path((True, "a"), (False, "b"))},
        {"reached": False, "path": _path((True, "b"), (True, "c"))},
        {"reached": True, "path": _path((True, "x"))},
    ]
    monkeypatch.setattr(graph_marks, "word_on", lambda verdicts: verdicts[0])
    assert graph_marks.marks_of({"verdicts": [{"losses": losses}]}) == {"a": "held", "b": "lost", "c": "last"}
    assert graph_marks.marks_of(None) == {}


async def test_a_graph_is_marked_for_the_failure_that_led_to_it() -> None:
    id_ = "0" * 32

    def answer(name: str, **variables: Any) -> Any:
        assert (name, variables) == ("graph_marks", {"id": id_})
        return {"project": {"failure": {"id": id_}}}

    assert await graph_marks.failure_of(_asked(answer), f"failures/{id_}") == {"id": id_}
    for came_from in (None, f"queues/{id_}/cases/{id_}"):
        assert await graph_marks.failure_of(_asked(answer), came_from) is None


def _graph(nodes: list[str], edges: list[tuple[str, str, str]], truncated: bool = False) -> Answers:
    def answer(name: str, **variables: Any) -> Any:
        made = [
            {"id": one, "kind": "Message", "category": None, "preview": "x" * 300, "sequence": 1, "name": one}
            | {"externalId": one, "version": 0}
            for one in nodes
        ]
        drawn = [{"source": a, "target": b, "kind": kind} for a, b, kind in edges]
        lineage = {"truncated": truncated and variables["direction"] == "forward", "nodes": made, "edges": drawn}
        return {"project": {"variable": {"id": "x", "lineage": lineage}}}

    return answer


async def test_the_data_of_a_graph_are_drawn_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    edges = [("a", "b", "k"), ("a", "b", "m"), ("b", "a", "k"), ("a", "gone", "k")]
    asked = _asked(_graph(["a", "b"], edges, True), direction="both", depth="7", kinds=["Message", "Nothing"], asOf="3")
    found = json.loads(bytes((await graph.graph_data(asked)).body))
    assert (found["start"], found["truncated"]) == ("x", True)
    assert [one["id"] for one in found["nodes"]] == ["a", "b"]
    assert len(found["nodes"][0]["note"]) <= 201
    assert [(one["source"], one["target"], one["kind"]) for one in found["edges"]] == edges[:3]
    wanted = {"id": "x", "hops": 7, "kinds": ["Message"], "asOf": 3}
    assert _documents(asked) == [("graph", wanted | {"direction": way}) for way in ("backward", "forward")]
    monkeypatch.setattr(graph, "EDGES", 2)
    answer = await graph.graph_data(_asked(_graph(["a", "b"], edges)))
    told = "There are 3 derivations; 2 can be drawn. Ask for fewer steps or kinds."
    assert (answer.status_code, json.loads(bytes(answer.body))) == (413, {"problem": told})
    monkeypatch.setattr(graph, "EDGES", 3)
    assert (await graph.graph_data(_asked(_graph(["a", "b"], edges)))).status_code == 200
    with pytest.raises(MissingError, match="There is no such variable"):
        await graph.graph_data(_asked(lambda *_, **__: {"project": {"variable": None}}))


@pytest.mark.parametrize(
    ("said", "direction", "depth"),
    [
        ({}, "backward", (None, None)),
        ({"direction": "sideways", "depth": "0"}, "backward", (0, None)),
        ({"direction": "forward", "depth": str(MAX_HOPS)}, "forward", (MAX_HOPS, None)),
        (
            {"depth": str(MAX_HOPS + 1)},
            "backward",
            (
                None,
                f"{MAX_HOPS + 1:,} steps are too many: at most {MAX_HOPS:,} can be asked for. All are shown.",
            ),
        ),
    ],
)
def test_the_way_and_the_depth_of_a_graph(said: dict[str, str], direction: str, depth: Any) -> None:
    asked = _asked(print, **said)
    assert (graph._direction(asked), graph._depth(asked)) == (direction, depth)


@pytest.mark.parametrize(
    ("queue", "mine", "is_open"),
    [
        ({"closedAt": None}, {"progress": "reserved"}, True),
        ({"closedAt": None}, {"progress": "done"}, True),
        ({"closedAt": None}, {"progress": "skipped"}, False),
        ({"closedAt": None}, None, False),
        ({"closedAt": "2026"}, {"progress": "done"}, False),
    ],
)
def test_a_case_is_open_for_who_has_it(queue: Any, mine: Any, is_open: bool) -> None:
    assert queue_failure._is_open(queue, mine) is is_open


def test_the_form_has_what_was_submitted_before_the_undo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "form_of_verdict", lambda verdict: {"of": verdict})
    changes = [
        {"changedBy": "me", "verdict": "first"},
        {"changedBy": "me", "verdict": "second"},
        {"changedBy": "other", "verdict": "theirs"},
        {"changedBy": "me", "verdict": None},
    ]

    def form(own: Any = None, nodes: Any = changes, person: str = "me") -> Any:
        failure = {"ownVerdict": own, "verdictHistory": {"nodes": nodes}}
        return queue_failure._form_before_undo({"project": {"failure": failure}, "viewer": {"person": person}})

    assert form() == {"of": "second"}
    assert form(person="nobody") == {"of": None}
    assert form(own="mine") == {}
    assert queue_failure._form_before_undo({"project": {"failure": None}, "viewer": {"person": "me"}}) == {}


_BEFORE, _AFTER = {"id": "1"}, {"id": "2"}


def _compared(by: str, counts: dict[str, int] | None, before: Any = _BEFORE, after: Any = _AFTER) -> Answers:
    def answer(name: str, **_: Any) -> Any:
        if name == "compare":
            return {"project": {"verdictGroups": [], "traces": {"nodes": ["t"]}}}
        outcomes = [{"outcome": one, "count": (counts or {}).get(one, 0)} for one in compare.TABS[by]]
        found = None if counts is None else {"outcomes": outcomes, "pValue": 0.5, "cases": ["c"]}
        return {"project": {"found": found, "before": before, "after": after}}

    return answer


@pytest.mark.parametrize(
    ("said", "counts", "shown", "asked_for"),
    [
        ({}, {"fixed": 1, "broken": 2}, "fixed", ["fixed"]),
        ({}, {"broken": 2}, "broken", ["fixed", "broken"]),
        ({}, {}, "fixed", ["fixed"]),
        ({"show": "stillRight"}, {"fixed": 1}, "stillRight", ["stillRight"]),
        ({"show": "stillRight"}, {"broken": 1}, "stillRight", ["stillRight"]),
        ({"show": "different"}, {"fixed": 1}, "fixed", ["fixed"]),  # only methods have it
    ],
)
async def test_a_comparison_shows_an_outcome_that_is_not_empty(
    said: dict[str, str], counts: dict[str, int], shown: str, asked_for: list[str]
) -> None:
    asked = _asked(_compared("traces", counts), before="1", after="2", **said)
    found = (await compare.compare(asked)).values["found"]
    assert (found["shown"], found["p"], found["cases"], found["missing"]) == (shown, 0.5, ["c"], None)
    documents = [variables for name, variables in _documents(asked) if name == "compare_traces"]
    assert [one["outcome"] for one in documents] == asked_for
    assert documents[0] == {"outcome": asked_for[0], "before": "1", "after": "2", "page": None}


@pytest.mark.parametrize(
    ("by", "before", "after", "missing"),
    [
        ("methods", None, None, "One of the two has given no verdict here."),
        ("traces", None, "a", "The first trace can't be found."),
        ("traces", "b", None, "The second trace can't be found."),
        ("traces", None, None, "The first trace and The second trace can't be found."),
    ],
)
async def test_a_comparison_that_cannot_be_made_says_why(by: str, before: Any, after: Any, missing: str) -> None:
    asked = _asked(_compared(by, None, before, after), by=by, before="1", after="2", trace="t")
    values = (await compare.compare(asked)).values
    assert values["found"] == {"missing": missing}
    assert (values["by"], values["traces"], values["is_first"]) == (by, ["t"], True)
    assert _documents(asked)[1][1].get("trace") == ("t" if by == "methods" else None)


@pytest.mark.parametrize("said", [{}, {"before": "1"}, {"after": "2"}, {"by": "odd", "page": "x"}])
async def test_a_comparison_needs_two(said: dict[str, str]) -> None:
    asked = _asked(_compared("traces", {}), **said)
    values = (await compare.compare(asked)).values
    assert (values["found"], values["by"], values["is_first"]) == (None, "traces", "page" not in said)
    assert [name for name, _ in _documents(asked)] == ["compare"]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", None),
        ("  ", None),
        (" 7 ", 7),
        ("1", 1),
        ("90", 90),
        ("91", "a whole number from 1 to 90, or nothing"),
        ("0", "a whole number from 1 to 90, or nothing"),
        ("x", "a whole number from 1 to 90, or nothing"),
        ("\u0663", "a whole number from 1 to 90, or nothing"),
        ("9" * 12, "a whole number from 1 to 90, or nothing"),
    ],
)
def test_a_number_of_a_form(text: str, number: int | str | None) -> None:
    assert settings._number(text, 90) == number


def _variable(fails: dict[str, PageError], other: Any = None, diff: Any = None) -> Answers:
    def answer(name: str, **variables: Any) -> Any:
        if variables["read"] and "value" in fails:
            return fails["value"]
        if variables["compare"] and "diff" in fails:
            return fails["diff"]
        one = {"kind": "MemoryUnit", "value": {"text": "abc", "offset": 5} if variables["read"] else None}
        return {"project": {"variable": one, "diff": diff if variables["compare"] else None, "other": other}}

    return answer


async def test_a_variable_is_shown_without_what_is_too_large() -> None:
    def values(shown: Shown | Response) -> dict[str, Any]:
        assert isinstance(shown, Shown)
        return shown.values

    plain = values(await variable.variable(_asked(_variable({}), offset="5", find="b")))
    assert (plain["end"], plain["diff"], plain["rows"], plain["is_versioned"]) == (8, None, [], True)
    assert plain["marks"] == [("a", False), ("b", True), ("c", False)]
    large = PageError(400, "too large", "value")
    unread = values(await variable.variable(_asked(_variable({"value": large}))))
    assert (unread["value"], unread["end"], unread["marks"]) == (None, 0, [])
    unlike = PageError(400, "too different", "diff")
    both = _asked(_variable({"value": large, "diff": unlike}, other={"id": "o"}), compare="o")
    found = values(await variable.variable(both))
    assert (found["unlike"], found["diff"]) == ({"id": "o"}, None)
    assert [(one["read"], one["compare"], one["other"]) for _, one in _documents(both)] == [
        (True, True, False),
        (False, True, False),
        (False, False, True),
    ]
    for error in (PageError(504, "late", "value"), PageError(400, "bad", "elsewhere")):
        with pytest.raises(PageError, match=str(error)):
            await variable.variable(_asked(_variable({"value": error})))
    with pytest.raises(MissingError, match="There is no such version to compare with"):
        await variable.variable(_asked(_variable({}), compare="o"))
