"""Facts whose way is not recorded whole: stored as they are, changed elsewhere, or never told."""

from __future__ import annotations

from pathlib import Path

import memtrace
import pytest

from attribution.trace.holes import holes
from schema.kinds import DerivationKind, ErrorType, VariableKind
from store.contract.protocol import Database
from tests.cases.recorded import judged

SAID = "My locker in the sports hall has the number 418."
OTHER = "The bus to the sports hall is red."
QUESTION = "What number does my locker have?"
UNKNOWN = "I have no note of your locker."


@memtrace.operation(kind="Extraction", output="MemoryUnit")
def keep(message: str) -> str:
    """Stores a message as it is."""
    return message


@memtrace.operation(kind="Generation", output="Answer")
def reply(question: str, found: list[str]) -> str:
    return UNKNOWN


@pytest.mark.parametrize("each", [False, True])
async def test_a_message_that_is_stored_as_it_is_becomes_a_unit(
    sqlite_database: Database, tmp_path: Path, each: bool
) -> None:
    @memtrace.operation(kind="Extraction", output="MemoryUnit", each=True)
    def keep_all(messages: list[str]) -> list[str]:
        return messages

    @memtrace.operation(kind="Retrieval")
    def search(question: str, notes: list[str]) -> list[str]:
        return notes[1:]

    def program() -> None:
        with memtrace.trace("agent", id=f"as-is-{each}"):
            told = [memtrace.variable(one, kind="Message", name=one[:6]) for one in (SAID, OTHER)]
            notes = keep_all(told) if each else [keep(one) for one in told]
            question = memtrace.variable(QUESTION, kind="Query")
            memtrace.feedback(reply(question, search(question, notes)), gold="418")

    case = await judged(program, sqlite_database.project(f"as-is-{each}"), tmp_path)
    (verdict,) = case.verdicts
    assert (verdict.error_type, case.blamed(verdict)) == (ErrorType.RETRIEVAL, "search")
    units = [one.id for one in case.graph.variables.values() if one.kind is VariableKind.MEMORY_UNIT]
    made = [one for one in units if case.graph.is_recorded(one)]
    assert [{d.kind for d in case.graph.parents(one)} for one in made] == [{DerivationKind.DERIVATION}] * 2


async def test_a_store_that_another_program_writes_too(sqlite_database: Database, tmp_path: Path) -> None:
    @memtrace.operation(kind="Update")
    def store(message: str) -> None:
        memtrace.store_unit("the locker has the number 418", store="shelf", id="1")

    @memtrace.operation(kind="Retrieval")
    def search(question: str) -> list[str]:
        text = " ".join(["the user has", "a locker"])
        unit = memtrace.stored_unit(text, store="shelf", id="1")
        memtrace.retrieved(question, [unit], [(text, unit)])
        return [text]

    def program() -> None:
        with memtrace.trace("agent", id="elsewhere"):
            store(memtrace.variable(SAID, kind="Message"))
            question = memtrace.variable(QUESTION, kind="Query")
            memtrace.feedback(reply(question, search(question)), gold="418")

    case = await judged(program, sqlite_database.project("elsewhere"), tmp_path)
    (verdict,) = case.verdicts
    assert verdict.error_type is None
    assert "“the locker has the number 418” became “the user has a locker”" in verdict.reason
    assert "another program, or code beside the recorded package, wrote into the store" in verdict.reason


async def test_a_message_that_no_operation_was_given(sqlite_database: Database, tmp_path: Path) -> None:
    def program() -> None:
        with memtrace.trace("agent", id="not-given"):
            memtrace.variable(SAID, kind="Message", name="first")
            second = memtrace.variable(OTHER, kind="Message", name="second")
            question = memtrace.variable(QUESTION, kind="Query", name="asked")
            memtrace.feedback(reply(question, [keep(second)]), gold="418")

    case = await judged(program, sqlite_database.project("not-given"), tmp_path)
    (verdict,) = case.verdicts
    assert verdict.error_type is None
    assert "no operation used the message that states the right answer" in verdict.reason


@memtrace.operation(kind="Generation", output="Answer")
def chat(prompt: str, message: str, history: list[str]) -> str:
    return "Noted." if message.startswith("I come") else "It is shelf 72."


def _talk(prompts: tuple[str, str], gold: str, trace: str) -> None:
    """Two turns; what the right answer needs is in a prompt that the program wrote, and in no message."""
    with memtrace.trace("agent", id=trace):
        first, second = (memtrace.variable(one, kind="Prompt", name=one[-6:]) for one in prompts)
        said = memtrace.variable("I come by train.", kind="Message", name="first")
        before = chat(first, said, [])
        asked = memtrace.variable("On which shelf is the atlas?", kind="Message", name="second")
        memtrace.feedback(chat(second, asked, [said, before]), question=asked, gold=gold)


KNOWN = "The atlas is on shelf 27, in the cellar."


@pytest.mark.parametrize(
    ("prompts", "wanted", "reason"),
    [
        ((KNOWN, f"{KNOWN} Be kind."), ErrorType.RESPONSE, "a text that has the right answer"),
        ((KNOWN, "Be kind to all."), ErrorType.DELETION, "no longer in the prompt"),
        (("Be quick.", "Be kind to all."), None, "no message that this trace has"),
    ],
)
async def test_what_no_message_states_is_followed_in_the_prompts(
    sqlite_database: Database, tmp_path: Path, prompts: tuple[str, str], wanted: ErrorType | None, reason: str
) -> None:
    name = f"untold-{wanted}"
    case = await judged(lambda: _talk(prompts, "Shelf 27", name), sqlite_database.project(name), tmp_path)
    (verdict,) = case.verdicts
    assert verdict.error_type is wanted
    assert reason in verdict.reason
    if wanted is not None:
        last = [one.id for one in case.graph.operations.values() if one.name == "chat"][-1]
        assert verdict.operation_id == last


@pytest.mark.parametrize("told", [True, False])
async def test_a_search_that_passes_over_the_nearest_unit_without_telling_its_choice(
    sqlite_database: Database, tmp_path: Path, told: bool
) -> None:
    rows = [OTHER]  # code that nobody recorded has taken the note on the locker out

    @memtrace.operation(kind="Extraction", output="MemoryUnit")
    def write(message: str) -> str:
        return f"note: {message}"

    def program() -> None:
        with memtrace.trace("agent", id=f"passes-{told}"):
            notes = [write(memtrace.variable(one, kind="Message", name=one[:6])) for one in (SAID, OTHER)]

            @memtrace.operation(kind="Retrieval")
            def search(question: str) -> list[str]:
                if told:
                    memtrace.retrieved(question, notes, notes[1:])
                return [f"note: {one}" for one in rows]

            question = memtrace.variable(QUESTION, kind="Query")
            memtrace.feedback(reply(question, search(question)), gold="418")

    case = await judged(program, sqlite_database.project(f"passes-{told}"), tmp_path)
    (verdict,) = case.verdicts
    assert (verdict.error_type, case.blamed(verdict)) == (ErrorType.RETRIEVAL, "search")
    assert (verdict.confidence >= 0.9) is told
    assert ("tell it with memtrace.retrieved" in verdict.reason) is not told
    assert verdict.reason.startswith(
        f"a unit with the needed fact was {'in the memory when' if told else 'stored before'}"
    )
    problems = [one.problem for one in await holes(case.graph)]
    passed_over = (
        "searches passed over the unit with most words of their question, and do not tell what they chose from"
    )
    assert (f"{passed_over}: search" in problems) is not told


async def test_a_model_inside_an_extraction_makes_extraction_errors(sqlite_database: Database, tmp_path: Path) -> None:
    replies: list[str] = []

    @memtrace.operation(kind="Generation", output="Response")
    def model(text: str) -> str:
        return f"the user has a locker, {len(text)}"

    @memtrace.operation(kind="Extraction", output="MemoryUnit")
    def write(message: str) -> str:
        replies.append(model(message))
        return replies[-1].partition(",")[0]  # a new text: nothing shows that the unit comes from the reply

    @memtrace.operation(kind="Generation", output="Answer")
    def answer(question: str, notes: list[str]) -> str:
        return UNKNOWN

    def program() -> None:
        with memtrace.trace("agent", id="inside"):
            write(memtrace.variable(SAID, kind="Message"))
            memtrace.feedback(answer(memtrace.variable(QUESTION, kind="Query"), replies), gold="418")

    case = await judged(program, sqlite_database.project("inside"), tmp_path)
    (verdict,) = case.verdicts
    assert (verdict.error_type, case.blamed(verdict)) == (ErrorType.EXTRACTION, "model")
