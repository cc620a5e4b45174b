"""What an id, a name or words mean for a command, and the whole message if they mean nothing or several things."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import typer

from api.cli import find
from api.cli.choosing import asked_of, chosen_answer, wrong_answer
from api.cli.errors import UsageError
from api.cli.listing import _read_answers
from api.cli.meant import Lead, OtherKindError
from schema.errors import AmbiguousError, InputError, MemTraceError, NotFoundError
from schema.kinds import OperationKind, VariableKind
from schema.models import Operation, Session, Trace, Variable
from store.contract.answers import ALWAYS
from store.contract.protocol import GraphStore
from store.open import open_database
from tests.factory import TraceBuilder, moment

PROJECT = "p"


def _chat(trace: TraceBuilder, number: int, question: str, answer: str, **more: Any) -> tuple[Variable, Variable]:
    asked = trace.variable(f"q{number}", question, kind=more.pop("kind", VariableKind.QUERY))
    step = trace.operation(f"reply{number}", kind=OperationKind.GENERATION, name=more.pop("step", "Agent.reply"))
    said = trace.variable(f"a{number}", answer, by=step, kind=VariableKind.ANSWER)
    trace.derive(said, asked, *more.pop("also", ()), by=step)
    return asked, said


def _traces() -> tuple[TraceBuilder, TraceBuilder]:
    first, second = TraceBuilder(PROJECT, "first"), TraceBuilder(PROJECT, "second")
    second.trace = replace(second.trace, created_at=moment(1))
    first.session("s0")
    first.variable("told", "I have a dog", kind=VariableKind.MESSAGE)
    old = first.variable("unit@0", "cat", name="unit")
    first.variable("unit@1", "dog", name="unit", version=1, revision_of=old.id)
    pet, cat = _chat(first, 0, "Which pet?", "a cat")
    first.failure(pet, cat)
    lost = first.variable("lost", "Where was it?", kind=VariableKind.QUERY)
    first.failure(lost, None)
    hello = first.variable("hello", "hello there", kind=VariableKind.MESSAGE)
    _chat(first, 1, "Which colour?", "blue", step="search", also=(hello,))
    second.variable("unit@0", "tea", name="drink")
    second.variable("twice", "x", name="drink")
    second.variable("unasked", "Who?", kind=VariableKind.QUERY)
    _chat(second, 2, "Which pet, please?", "a dog")
    one, _ = _chat(second, 3, "Which day?", "Monday")
    _chat(second, 4, "What time?", "noon", also=(one,), step="Agent.search")
    alone = second.operation("alone", kind=OperationKind.GENERATION, name="other")
    second.variable("a5", "said alone", by=alone, kind=VariableKind.ANSWER)
    return first, second


FIRST, SECOND = _traces()
V = {one.external_id: one for one in [*SECOND.variables, *FIRST.variables]}
S = {one.external_id: one for one in SECOND.variables}
PET, LOST = FIRST.failures
DAY = V["q3"].id[:8]
REPLIES = [one for one in [*FIRST.operations, *SECOND.operations] if one.name == "Agent.reply"]


@dataclass
class Place:
    """A store with both traces."""

    uri: str

    def run(self, work: Any, *arguments: Any, **named: Any) -> Any:
        """The result of a function on the store."""

        async def call() -> Any:
            async with await open_database(self.uri) as database:
                store: GraphStore = database.project(PROJECT)
                return await work(store, *arguments, **named)

        return asyncio.run(call())


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A store with both traces, for reading only."""
    place = Place(f"sqlite:///{tmp_path_factory.mktemp('found') / 'test.db'}")

    async def write(store: GraphStore) -> None:
        await FIRST.write(store)
        await SECOND.write(store)

    place.run(write)
    return place


@pytest.mark.parametrize(
    ("model", "reference", "trace", "found"),
    [
        (Variable, "told", None, V["told"]),
        (Variable, V["told"].id, None, V["told"]),
        (Variable, V["told"].id[:8], None, V["told"]),
        (Variable, "unit@1", None, V["unit@1"]),
        (Variable, "unit@0", FIRST.trace.id, V["unit@0"]),
        (Variable, "unit@0", SECOND.trace.id, S["unit@0"]),
        (Variable, "WHICH PET?", None, V["q0"]),
        (Variable, "i have a dog", None, V["told"]),
        (Variable, "last", None, V["a5"]),
        (Variable, "Newest", FIRST.trace.id, V["a1"]),
        (Variable, "unit", None, V["unit@1"]),
        (Variable, FIRST.operations[0].id[:10], None, V["a0"]),
        (Variable, FIRST.trace.id, None, V["a1"]),
        (Variable, PET.id, None, V["a0"]),
        (Operation, V["a0"].id, None, FIRST.operations[0]),
        (Operation, PET.id, FIRST.trace.id, FIRST.operations[0]),
        (Operation, "last", None, SECOND.operations[3]),
        (Operation, "last", FIRST.trace.id, FIRST.operations[1]),
        (Trace, V["a0"].id, None, FIRST.trace),
        (Variable, "have dog", None, V["told"]),
        (Trace, "first", None, FIRST.trace),
        (Trace, "the second", None, SECOND.trace),
        (Trace, "latest", None, SECOND.trace),
        (Session, "s0", None, FIRST.sessions[0]),
        (Operation, "Agent.search", None, SECOND.operations[2]),
        (Operation, "other", None, SECOND.operations[3]),
        (Operation, "search", FIRST.trace.id, FIRST.operations[1]),
        (Operation, "search", SECOND.trace.id, SECOND.operations[2]),
    ],
)
def test_an_element_is_found(place: Place, model: Any, reference: str, trace: str | None, found: Any) -> None:
    assert place.run(find.find, model, reference, trace).id == found.id


@pytest.mark.parametrize(
    ("work", "reference", "error", "said"),
    [
        (lambda s, r: find.find(s, Variable, r), "nothing", NotFoundError, "no variable 'nothing' in this project"),
        (lambda s, r: find.find(s, Session, r), "last", NotFoundError, "no session 'last' in this project"),
        (lambda s, r: find.find(s, Variable, r), "f" * 12, NotFoundError, f"no variable '{'f' * 12}' in this project"),
        (
            find.find_failure,
            "nothing",
            NotFoundError,
            "no failure or answer 'nothing' in this project",
        ),
        (
            find.find_failure,
            "a2",
            InputError,
            (
                f"{V['a2'].id[:8]}: it is not marked as wrong. If it is, say: memtrace fail {V['a2'].id[:8]}"
                f' "the right answer". What it came from: memtrace closure {V["a2"].id[:8]}'
            ),
        ),
        (
            find.find_failure,
            "told",
            InputError,
            f"{V['told'].id[:8]}: it is a Message, and no answer to it is marked as wrong. See: memtrace answers",
        ),
        (
            find.find_failure,
            "What time?",
            InputError,
            f"{V['q4'].id[:8]}: it is a Query, and no answer to it is marked as wrong. See: memtrace answers",
        ),
        (
            lambda s, r: find.find_cause(s, r, None),
            "x y",
            NotFoundError,
            "no variable, operation or failure 'x y' in this project",
        ),
        (find.find_anything, "e" * 32, NotFoundError, f"no '{'e' * 32}' in this project"),
        (find.find_anything, "nothing", NotFoundError, "no 'nothing' in this project"),
        (
            lambda s, r: find.find_failures(s, [r]),
            "nothing",
            NotFoundError,
            "no failure, answer or trace 'nothing' in this project",
        ),
        (
            lambda s, r: wrong_answer(s, r, None),
            "Where was it",
            UsageError,
            f"{V['lost'].id[:8]} is a question, and no answer to it is recorded; name the answer",
        ),
        (
            lambda s, r: wrong_answer(s, r, None),
            LOST.id,
            UsageError,
            f"the failure {LOST.id[:8]} has no answer in the graph",
        ),
        (
            lambda s, r: wrong_answer(s, r, None),
            "nothing",
            NotFoundError,
            "no failure or answer 'nothing' in this project",
        ),
        (
            lambda s, r: wrong_answer(s, r, None),
            "q3",
            UsageError,
            f"{DAY} is a question, and it has 2 answers: {V['a3'].id[:8]}, {V['a4'].id[:8]}; name the answer",
        ),
        (
            lambda s, _: asked_of(s, V["a5"]),
            "",
            UsageError,
            f"the graph does not say what {V['a5'].id[:8]} answers (no query led to it): name it with --question ID",
        ),
        (
            lambda s, _: asked_of(s, V["told"]),
            "",
            UsageError,
            f"{V['told'].id[:8]} is a message, and no answer to it is recorded; name the answer",
        ),
        (
            lambda s, _: asked_of(s, V["a4"]),
            "",
            UsageError,
            (
                f"the graph does not say what {V['a4'].id[:8]} answers (it may be one of 2: "
                f"{V['q3'].id[:8]} q3, {V['q4'].id[:8]} q4): name it with --question ID"
            ),
        ),
    ],
)
def test_what_means_nothing_is_told(place: Place, work: Any, reference: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error) as caught:
        place.run(work, reference)
    assert str(caught.value) == said
    assert type(caught.value) is error


@pytest.mark.parametrize("reference", ["who?", "what time?", "drink", "a5", "Agent.search", SECOND.operations[3].id])
def test_what_is_in_another_trace_is_not_found(place: Place, reference: str) -> None:
    model = Operation if reference in {"Agent.search", SECOND.operations[3].id} else Variable
    with pytest.raises(NotFoundError):
        place.run(find.find, model, reference, FIRST.trace.id)
    if model is Variable:
        assert place.run(find.questions_in_words, reference, FIRST.trace.id) == []
    with pytest.raises(NotFoundError):
        place.run(find.find_failure, "which pet", SECOND.trace.id)


@pytest.mark.parametrize(
    ("work", "reference", "candidates"),
    [
        (lambda s, r: find.find(s, Variable, r), "drink", ["unit@0", "twice"]),
        (lambda s, r: find.find(s, Operation, r), "Agent.reply", REPLIES),
        (lambda s, r: find.find(s, Operation, r), "reply", REPLIES),
        (find.find_anything, "reply", REPLIES),
        (lambda s, r: find.find_cause(s, r, None), "reply", REPLIES),
        (find.find_failure, "drink", ["unit@0", "twice"]),
    ],
)
def test_what_means_several_things_names_them(place: Place, work: Any, reference: str, candidates: Any) -> None:
    of = S if reference == "drink" else V
    with pytest.raises((AmbiguousError, InputError)) as caught:
        place.run(work, reference)
    if isinstance(caught.value, AmbiguousError):
        wanted = {of[one].id if isinstance(one, str) else one.id for one in candidates}
        assert set(caught.value.candidates) == wanted
    else:  # only answers are wrong, so units need not be told apart
        assert "it is a MemoryUnit, and only answers are wrong" in str(caught.value)
        assert reference == "drink"


@pytest.mark.parametrize(
    ("reference", "trace", "found"),
    [
        (PET.id, None, PET),
        (PET.id[:9], None, PET),
        ("q0", None, PET),
        ("a0", None, PET),
        ("lost", None, LOST),
        ("where was it", None, LOST),
        ("was", None, LOST),
        ("which PET", None, PET),
        ("last", None, LOST),
        ("last", FIRST.trace.id, LOST),
        (PET.id, FIRST.trace.id, PET),
    ],
)
def test_a_failure_is_found(place: Place, reference: str, trace: str | None, found: Any) -> None:
    assert place.run(find.find_failure, reference, trace) == found


@pytest.mark.parametrize(
    ("wanted", "reference", "lead"),
    [
        (Variable, FIRST.trace.id, Lead.SURE),
        (Variable, "unit", Lead.SURE),
        (Trace, V["a0"].id, Lead.NOT),
        (Operation, V["a0"].id, Lead.NOT),
        (Variable, "have dog", Lead.SURE),
        (Operation, FIRST.trace.id, Lead.NEAREST),
        (Operation, V["told"].id, Lead.NEAREST),
        (Variable, FIRST.sessions[0].id, Lead.NEAREST),
    ],
)
def test_nothing_is_guessed_where_only_what_is_sure_may_be_meant(
    place: Place, wanted: Any, reference: str, lead: Lead
) -> None:
    with pytest.raises((NotFoundError, AmbiguousError)):
        place.run(find.find, wanted, reference, None, lead)


def test_an_operation_and_a_trace_lead_to_a_failure(place: Place) -> None:
    assert place.run(find.find_failure, FIRST.operations[0].id) == PET
    assert place.run(find.find_failures, [FIRST.operations[0].id[:8]]) == [PET]
    assert place.run(find.find_failure, FIRST.trace.id) == place.run(find.find_failure, "last")
    with pytest.raises(OtherKindError, match="is no failure: it means a Generation"):
        place.run(find.find_failure, SECOND.operations[3].id)


@pytest.mark.parametrize(
    ("references", "found"),
    [
        (["q0"], [PET]),
        (["was", "where"], [LOST]),
        (["a0", "lost"], [PET, LOST]),
        (["first"], [PET, LOST]),
        (["second"], []),
        (["second", "a0"], [PET]),
    ],
)
def test_failures_are_found(place: Place, references: list[str], found: list[Any]) -> None:
    assert {one.id for one in place.run(find.find_failures, references)} == {one.id for one in found}


def test_single_words_are_no_question_among_several_references(place: Place) -> None:
    with pytest.raises(NotFoundError, match=r"^no failure, answer or trace 'was' in this project$"):
        place.run(find.find_failures, ["was", "q0"])
    with pytest.raises(NotFoundError, match=r"^no failure or answer 'was' in this project$"):
        place.run(find.find_failure, "was", in_words=False)


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("told", V["told"]),
        (FIRST.operations[0].id, FIRST.operations[0]),
        (FIRST.operations[0].id[:8], FIRST.operations[0]),
        (PET.id, PET),
        ("other", SECOND.operations[3]),
        ("unit@1", V["unit@1"]),
    ],
)
def test_a_cause_is_found(place: Place, reference: str, found: Any) -> None:
    assert place.run(find.find_cause, reference, None).id == found.id
    assert place.run(find.find_anything, reference).id == found.id


@pytest.mark.parametrize("trace", [None, "second"])
def test_an_id_of_something_else_has_no_cause(place: Place, trace: str | None) -> None:
    with pytest.raises(MemTraceError, match="is no variable: it means a Session"):
        place.run(find.find_cause, FIRST.sessions[0].id, trace)


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("a0", "a0"),
        ("q0", "a0"),
        ("which colour?", "a1"),
        (PET.id, "a0"),
        ("told", "told"),  # a reply that is recorded as a message
        ("unit@1", "unit@1"),
    ],
)
def test_a_wrong_answer_is_found(place: Place, reference: str, answer: str) -> None:
    assert place.run(wrong_answer, reference, None).id == V[answer].id


def test_the_question_of_an_answer(place: Place) -> None:
    assert place.run(asked_of, V["a0"]).id == V["q0"].id


def _asked_at_a_terminal(monkeypatch: pytest.MonkeyPatch, *answers: Any, is_terminal: bool = True) -> None:
    left = list(answers)
    monkeypatch.setattr("sys.stdin", type("Terminal", (), {"isatty": lambda _: is_terminal})())
    monkeypatch.setattr(typer, "prompt", lambda *_, **__: left.pop(0))


@pytest.mark.parametrize(("trace", "number", "right", "answer"), [("first", 1, "a dog", "a0"), (None, 6, "", "a5")])
def test_the_last_answers_are_listed_to_choose_from(
    place: Place,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    trace: str | None,
    number: int,
    right: str,
    answer: str,
) -> None:
    _asked_at_a_terminal(monkeypatch, number, right)
    found, gold = place.run(chosen_answer, trace)
    assert (found.id, gold) == (V[answer].id, [right] if right else [])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"  1  {V['a0'].id[:8]}  Which pet?  →  a cat"
    assert lines[1] == f"  2  {V['a1'].id[:8]}  Which colour?  →  blue"
    if trace is None:
        assert lines[4:] == [f"  5  {V['a4'].id[:8]}  ?  →  noon", f"  6  {V['a5'].id[:8]}  ?  →  said alone"]


@pytest.mark.parametrize("number", [0, 3])
def test_a_number_must_be_on_the_list(place: Place, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    _asked_at_a_terminal(monkeypatch, number)
    with pytest.raises(UsageError, match=f"^{number} is not on the list$"):
        place.run(chosen_answer, "first")


def test_without_a_terminal_the_answer_has_to_be_named(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    _asked_at_a_terminal(monkeypatch, is_terminal=False)
    with pytest.raises(UsageError) as caught:
        place.run(chosen_answer, None)
    assert str(caught.value) == 'name the wrong answer and what would be right: memtrace fail ID "the right answer"'


def test_without_answers_there_is_nothing_to_choose(tmp_path: Path) -> None:
    from api.cli.next_steps import NO_ANSWER

    with pytest.raises(UsageError) as caught:
        Place(f"sqlite:///{tmp_path / 'empty.db'}").run(chosen_answer, None)
    assert str(caught.value) == NO_ANSWER


def test_a_question_that_is_recorded_twice_stands_for_its_answer(tmp_path: Path) -> None:
    twice = TraceBuilder(PROJECT, "twice")
    _, said = _chat(twice, 1, "Which colour?", "blue")
    again = twice.variable("written by a model", "which colour", kind=VariableKind.QUERY)
    own = Place(f"sqlite:///{tmp_path / 'twice.db'}")
    own.run(twice.write)
    assert own.run(wrong_answer, again.id, None).id == said.id


def test_a_rephrased_question_is_no_answer(tmp_path: Path) -> None:
    chain = TraceBuilder(PROJECT, "chain")
    asked, words = _chat(chain, 1, "How long does it take?", "How long does the safari take?")
    searching = chain.operation("searching")
    query = chain.variable("searched", words.preview, by=searching, kind=VariableKind.REFINED_QUERY)
    chain.derive(query, words, by=searching)
    step = chain.operation("reply2", kind=OperationKind.GENERATION)
    said = chain.variable("a2", "Four hours.", by=step, kind=VariableKind.ANSWER)
    chain.derive(said, asked, by=step)
    own = Place(f"sqlite:///{tmp_path / 'chain.db'}")
    own.run(chain.write)
    assert own.run(wrong_answer, asked.id, None).id == said.id

    async def listed(store: GraphStore) -> list[str]:
        return [one.answer.id async for page in _read_answers(store, None, ALWAYS) for one in page]

    assert own.run(listed) == [said.id]
