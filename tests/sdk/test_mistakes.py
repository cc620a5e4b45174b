"""What the application says wrongly, forgets or leaves out: told once, with the place, and nothing is lost but that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import memtrace
import pytest
from memtrace import faults
from memtrace.exporters.memory import MemoryExporter

from tests.sdk.graph import check


@pytest.mark.parametrize(
    "kind", ["MemoryUnit", "memory unit", "MEMORY_UNIT", "memory-unit", "memoryunit", " Memory  Unit"]
)
def test_kinds_of_variables_are_taken_as_people_write_them(recorded: MemoryExporter, kind: str) -> None:
    with memtrace.trace(), memtrace.operation("step") as step:
        memtrace.variable("one of them", kind)
        step.output("two of them", kind=kind)
        with memtrace.mutation([], kind=kind):
            pass
    assert {event["kind"] for event in recorded.of("variable")} == {"MemoryUnit"}


def test_kinds_of_operations_are_taken_as_people_write_them(recorded: MemoryExporter) -> None:
    @memtrace.operation(kind="retrieval", inputs={"text": "refined_query"}, output="RETRIEVAL RESULT")
    def search(text: str) -> str:
        return "found it"

    with memtrace.trace():
        search("what is it")
    assert recorded.of("operationStarted")[0]["kind"] == "Retrieval"
    assert [event["kind"] for event in recorded.of("variable")] == ["RefinedQuery", "RetrievalResult"]


_WRONG: list[tuple[Callable[[], Any], str]] = [
    (lambda: memtrace.operation(kind="Retreival"), "'Retreival' is no kind of operation (did you mean 'Retrieval'?)"),
    (lambda: memtrace.operation(output="memory_unti"), "(did you mean 'MemoryUnit'?)"),
    (lambda: memtrace.operation(inputs={"text": "Mesage"}), "(did you mean 'Message'?)"),
    (lambda: memtrace.variable("text", "anwser"), "(did you mean 'Answer'?)"),
    (lambda: memtrace.variable("text", "xyz"), "'xyz' is no kind of variable and counts as 'Other'; there are Message"),
    (lambda: memtrace.mutation([], kind="bufer"), "(did you mean 'Buffer'?)"),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "words"), _WRONG)
def test_a_kind_that_is_none_is_told_with_its_line(
    caplog: pytest.LogCaptureFixture, wrong: Callable[[], Any], words: str
) -> None:
    memtrace.configure(exporter=MemoryExporter())
    with memtrace.trace():
        wrong()
    told = [record.getMessage() for record in caplog.records if "is no kind" in record.getMessage()]
    assert words in told[0]
    assert f" at {__file__}:{wrong.__code__.co_firstlineno} " in told[0]


def test_what_has_no_kind_is_recorded_all_the_same() -> None:
    memtrace.configure(exporter=(exporter := MemoryExporter()))
    with memtrace.trace(), memtrace.operation("step", kind="Thinking") as step:
        step.input("text", kind="Querry")
        step.output("text made of it", kind="Answr")
    assert [event["kind"] for event in exporter.of("operationStarted")] == ["Other"]
    assert [event["kind"] for event in exporter.of("variable")] == ["Other", "Other"]
    assert exporter.of("operationEnded")[0]["status"] == "ok"


def _told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records]


_CALLS: list[tuple[Callable[[str, str], Any], str]] = [
    (lambda q, u: memtrace.retrieved(q, [u], [u], scores=[0.9]),  # type: ignore[call-arg]
     "unexpected keyword argument 'scores'; it takes (query, candidates, returned)"),
    (lambda q, u: memtrace.retrieved(q, [u]), "missing a required argument: 'returned'"),  # type: ignore[call-arg]
    (lambda q, u: memtrace.retrieved(q, u, []), "candidates must be a list, got 'the unit"),
    (lambda q, u: memtrace.retrieved(q, [], None), "returned must be a list, got <NoneType>"),  # type: ignore[arg-type]
    (lambda q, u: memtrace.retrieved(None, [u], [u]), "query must be what was asked for, such as a text, got <None"),
    (lambda q, u: memtrace.retrieved([], [u], [u]), "query must be what was asked for, such as a text, got <list>"),
    (lambda q, u: memtrace.retrieved(object(), [u], [u]), "got <object>"),
    (lambda q, u: memtrace.feedback(u, gold=5), "gold must be a list or a text, got <int>"),  # type: ignore[arg-type]
    (lambda q, u: memtrace.feedback(u, gold=[5]), "gold must be a text, got <int>"),  # type: ignore[list-item]
    (lambda q, u: memtrace.feedback(u, right="yes"), "right must be True or False, got 'yes'"),  # type: ignore[arg-type]
    (lambda q, u: memtrace.feedback(u, evidence=5), "evidence must be a list or a text"),  # type: ignore[arg-type]
    (lambda q, u: memtrace.operation(len), "<builtin_function_or_method> is no function written in Python"),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "words"), _CALLS)
def test_what_is_said_in_the_wrong_shape_is_told_in_words_with_its_line(
    caplog: pytest.LogCaptureFixture, wrong: Callable[[str, str], Any], words: str
) -> None:
    memtrace.configure(exporter=MemoryExporter())
    with memtrace.trace():
        query = memtrace.variable("the question is what", "Query")
        wrong(query, memtrace.variable("the unit that is stored", "MemoryUnit"))
    memtrace.configure(exporter=MemoryExporter())
    (told,) = _told(caplog)
    assert words in told
    assert f" at {__file__}:{wrong.__code__.co_firstlineno} " in told


@pytest.mark.parametrize(
    ("candidate", "words", "is_considered"),
    [
        (lambda unit: (unit, "0.9"), "a score must be a finite number, got '0.9'", True),
        (lambda unit: (unit, float("nan")), "a score must be a finite number, got <float>", True),
        (lambda unit: (unit, 10**400), "a score must be a finite number, got <int>", True),
        (lambda unit: (unit, 0.9, 1), "a pair (known value, score), got a tuple of 3", False),
        (lambda unit: "nobody knows this", "is no known variable of this trace", False),
    ],
)
def test_a_candidate_or_score_that_is_none_costs_itself_only(
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    candidate: Callable[[str], Any],
    words: str,
    is_considered: bool,
) -> None:
    monkeypatch.setattr(faults, "_told", set())  # each line is told once in a process
    memtrace.configure(exporter=(exporter := MemoryExporter()))
    with memtrace.trace():
        first, second = (memtrace.variable(f"unit number {n}", "MemoryUnit", f"u{n}") for n in range(2))
        memtrace.retrieved("a new question", [candidate(first), (second, 0.5)], [second, "nobody knows this either"])
    memtrace.configure(exporter=MemoryExporter())
    check(exporter.events)
    assert words in " ".join(_told(caplog))
    scores = {event["rank"]: (event.get("score"), event["returned"]) for event in exporter.of("considered")}
    assert scores == ({0: (None, False)} if is_considered else {}) | {1: (0.5, True)}
    assert [event["status"] for event in exporter.of("operationEnded")] == ["ok"]


class Broken:
    """An object whose every attribute access fails."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(f"a secret in {name}")

    def __repr__(self) -> str:
        raise RuntimeError("a secret")


class Proxy:
    """Stands for something that is not there."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"a secret in {name}")

    __repr__ = __str__ = __getattr__  # type: ignore[assignment]


@pytest.mark.parametrize("kind", ["Generation", "Retrieval"])
@pytest.mark.parametrize("made", [Broken, Proxy, lambda: [Broken()], lambda: {Proxy(), "x"}, lambda: {"key": Broken()}])
async def test_an_object_that_fails_whatever_is_asked_of_it_ends_no_operation_early(
    caplog: pytest.LogCaptureFixture, kind: str, made: Callable[[], Any]
) -> None:
    memtrace.configure(exporter=(exporter := MemoryExporter()))
    broken = made()

    @memtrace.operation(kind=kind, output="Answer", each=True)
    def give(value: object, text: str) -> object:
        return broken

    @memtrace.operation(kind=kind)
    async def wait(value: object) -> object:
        return broken

    @memtrace.operation(kind=kind)
    def stream(value: object) -> Iterator[object]:
        yield broken

    with memtrace.trace():
        assert give(broken, "some text") is broken
        assert await wait(broken) is broken
        assert next(iter(list(stream(broken)))) is broken
        with memtrace.operation("block", kind=kind) as step:
            assert step.output(step.input(broken)) is broken
    memtrace.configure(exporter=MemoryExporter())
    check(exporter.events)
    assert [event["status"] for event in exporter.of("operationEnded")] == ["ok"] * 4
    assert "some text" in [event["value"] for event in exporter.of("variable")]
    assert "a secret" not in " ".join(_told(caplog))


def test_what_the_applications_own_code_raised_is_told_with_its_place(caplog: pytest.LogCaptureFixture) -> None:
    memtrace.configure(exporter=MemoryExporter())
    with memtrace.trace(), memtrace.operation("step") as step:
        step.output(Broken())
    assert f"RuntimeError, raised in Broken.__getattribute__ at {__file__}:" in " ".join(_told(caplog))


@pytest.mark.parametrize("redact", [["emails"], "emails", [None], 5])
def test_masks_that_are_no_functions_are_refused(recorded: MemoryExporter, redact: Any) -> None:
    with pytest.raises(ValueError, match=r"redact must be functions .* such as memtrace\.redact\.emails, got"):
        memtrace.configure(exporter=MemoryExporter(), redact=redact)
    with memtrace.trace():
        memtrace.variable("still recorded", "Message")
    assert len(recorded.of("variable")) == 1


def test_one_mask_needs_no_list() -> None:
    memtrace.configure(exporter=(exporter := MemoryExporter()), redact=memtrace.redact.emails)
    with memtrace.trace():
        memtrace.variable("write to a.b@example.org", "Message")
    memtrace.configure(exporter=MemoryExporter())
    assert "example.org" not in exporter.of("variable")[0]["value"]


@pytest.mark.parametrize("act", ["mutation", "bind", "variable"])
def test_a_value_that_can_not_be_read_is_a_fault_of_the_act_that_it_was_given_to(act: str) -> None:
    memtrace.configure(exporter=MemoryExporter())
    before = memtrace.fault_counts().get(act, 0)
    with memtrace.trace():
        if act == "mutation":
            with memtrace.mutation(Broken(), "buffer"):
                pass
        elif act == "bind":
            memtrace.bind(Broken(), "nobody knows it")
        else:
            memtrace.variable(Broken(), "Buffer")
    assert memtrace.fault_counts()[act] == before + 1
