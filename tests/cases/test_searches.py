"""Searches that find nothing, memories that change out of sight, and replies that are never stored."""

from __future__ import annotations

from pathlib import Path

import memtrace
import pytest

from attribution.trace.holes import holes
from schema.kinds import ErrorType, OperationKind, VariableKind
from store.contract.protocol import Database
from tests.cases.recorded import judged

SAID = "My locker in the sports hall has the number 418."
QUESTION = "What number does my locker have?"


@memtrace.operation(kind="Extraction", output="MemoryUnit")
def note(message: str) -> str:
    return "User's locker in the sports hall has the number 418"


@memtrace.operation(kind="Generation", output="Answer")
def answer(prompt: str, question: str) -> str:
    return "I have no note of your locker."


async def test_an_empty_search_is_in_the_past_of_the_answer(sqlite_database: Database, tmp_path: Path) -> None:
    @memtrace.operation(kind="Retrieval", attributes={"filters": {"agent": "coach"}})
    def search(question: str, notes: list[str]) -> list[str]:
        return []

    def program() -> None:
        with memtrace.trace("agent", id="empty"):
            notes = [note(memtrace.variable(SAID, kind="Message"))]
            question = memtrace.variable(QUESTION, kind="Query")
            found = search(question, notes)
            memtrace.feedback(answer("Known: " + ", ".join(found), question), gold="418")

    case = await judged(program, sqlite_database.project("empty-search"), tmp_path)
    (verdict,) = case.verdicts
    assert (verdict.error_type, case.blamed(verdict)) == (ErrorType.RETRIEVAL, "search")
    assert "returned nothing, and was limited by (agent=coach); 1 unit is recorded as stored" in verdict.reason
    assert verdict.confidence >= 0.9
    past = case.graph.past([case.failures[0].answer_id or ""])
    makers = {case.graph.variables[one].operation_id for one in past}
    assert any(case.graph.operations[one].kind is OperationKind.RETRIEVAL for one in makers if one)


async def test_only_the_newest_question_counts(sqlite_database: Database, tmp_path: Path) -> None:
    @memtrace.operation(kind="Retrieval")
    def search(question: str) -> list[str]:
        return []

    @memtrace.operation(kind="Generation", output="Answer")
    def chat(history: list[str]) -> str:
        return "I don't know."

    def program() -> None:
        with memtrace.trace("agent", id="newest"):
            first = memtrace.variable("Where is my bike?", kind="Query", name="first")
            search(first)
            chat([first])
            second = memtrace.variable("Where is my car?", kind="Query", name="second")
            search(second)
            chat([first, second])

    case = await judged(program, sqlite_database.project("newest"), tmp_path)
    graph = case.graph
    empty = [one.id for one in graph.variables.values() if one.kind is VariableKind.RETRIEVAL_RESULT]
    answers = [one.id for one in graph.variables.values() if one.kind is VariableKind.ANSWER]
    assert [[one for one in empty if one in graph.past([answer])] for answer in answers] == [empty[:1], empty[1:]]


async def test_a_note_that_is_written_too_late(sqlite_database: Database, tmp_path: Path) -> None:
    @memtrace.operation(kind="Retrieval")
    def search(question: str) -> list[str]:
        return []

    @memtrace.operation(kind="Generation", output="Answer")
    def chat(message: str) -> str:
        return "Noted."

    def program() -> None:
        with memtrace.trace("agent", id="late"):
            message = memtrace.variable(SAID, kind="Message")
            chat(message)
            question = memtrace.variable(QUESTION, kind="Query")
            search(question)
            wrong = answer("Known: nothing", question)
            note(message)
            memtrace.feedback(wrong, gold="418")

    case = await judged(program, sqlite_database.project("late"), tmp_path)
    (verdict,) = case.verdicts
    assert (verdict.error_type, case.blamed(verdict)) == (ErrorType.RETRIEVAL, "search")
    assert "the search ran too early" in verdict.reason
    assert "before the unit with the needed fact was written at" in verdict.reason


async def test_a_note_that_is_written_in_the_background(sqlite_database: Database, tmp_path: Path) -> None:
    """What the user says is searched for first, and handed to the memory while the next question is answered."""

    @memtrace.operation(kind="Retrieval")
    def search(question: str) -> list[str]:
        return []

    @memtrace.operation(kind="Other")
    def begin(message: str) -> None:
        pass

    def program() -> None:
        with memtrace.trace("agent", id="background"):
            search(memtrace.variable(SAID, kind="Query"))
            question = memtrace.variable(QUESTION, kind="Query")
            search(question)
            message = memtrace.variable(SAID, kind="Message")
            begin(message)
            wrong = answer("Known: nothing", question)
            note(message)
            memtrace.feedback(wrong, gold="418")

    case = await judged(program, sqlite_database.project("background"), tmp_path)
    (verdict,) = case.verdicts
    assert (verdict.error_type, case.blamed(verdict)) == (ErrorType.RETRIEVAL, "search")
    assert "the search ran too early" in verdict.reason


@pytest.mark.parametrize("expires", ["2020-01-31", "2999-01-31"])
async def test_a_note_that_had_expired(sqlite_database: Database, tmp_path: Path, expires: str) -> None:
    @memtrace.operation(kind="Other", attributes={"expires": expires})
    def add(message: str) -> list[str]:
        return [note(message)]

    @memtrace.operation(kind="Retrieval", attributes={"store": "shelf", "filters": {"user_id": "u1", "hall": "west"}})
    def search(question: str) -> list[str]:
        return []

    def program() -> None:
        with memtrace.trace("agent", id=f"expires-{expires}"):
            add(memtrace.variable(SAID, kind="Message"))
            question = memtrace.variable(QUESTION, kind="Query")
            search(question)
            memtrace.feedback(answer("Known: nothing", question), gold="418")

    case = await judged(program, sqlite_database.project(f"expires-{expires}"), tmp_path)
    (verdict,) = case.verdicts
    assert (verdict.error_type, case.blamed(verdict)) == (ErrorType.RETRIEVAL, "search")
    assert ("it was written to expire on 2020-01-31" in verdict.reason) is (expires < "2025")


async def test_a_note_that_changes_in_place(sqlite_database: Database, tmp_path: Path) -> None:
    @memtrace.operation(kind="Extraction", output="MemoryUnit")
    def remember(message: str) -> dict[str, str]:
        return {"text": "the locker has the number 418"}

    @memtrace.operation(kind="Update")
    def update(notes: list[dict[str, str]], message: str) -> None:
        notes[0]["text"] = "the user plays handball"

    @memtrace.operation(kind="Retrieval")
    def search(question: str, notes: list[dict[str, str]]) -> list[dict[str, str]]:
        return list(notes)

    @memtrace.operation(kind="Generation", output="Answer")
    def reply(question: str, found: list[dict[str, str]]) -> str:
        return "I have no note of your locker."

    def program() -> None:
        with memtrace.trace("agent", id="in-place"):
            notes = [remember(memtrace.variable(SAID, kind="Message", name="first"))]
            update(notes, memtrace.variable("I play handball.", kind="Message", name="second"))
            question = memtrace.variable(QUESTION, kind="Query")
            memtrace.feedback(reply(question, search(question, notes)), gold="418")

    case = await judged(program, sqlite_database.project("in-place"), tmp_path)
    (verdict,) = case.verdicts
    assert verdict.error_type is None
    assert "the memory changed out of sight" in verdict.reason
    assert "memtrace.mutation" in verdict.reason
    assert any(
        "out of sight" in one.problem and "between remember and search" in one.problem
        for one in await holes(case.graph)
    )


async def test_an_update_that_shows_no_change_makes_the_verdict_less_sure(
    sqlite_database: Database, tmp_path: Path
) -> None:
    @memtrace.operation(kind="Update")
    def update(message: str) -> None:
        """Changes a database that nobody records."""

    @memtrace.operation(kind="Retrieval")
    def search(question: str, notes: list[str]) -> list[str]:
        return notes[1:]

    def program(*, is_whole: bool) -> None:
        with memtrace.trace("agent", id=f"weak-{is_whole}"):
            message = memtrace.variable(SAID, kind="Message", name="first")
            other = memtrace.variable("The bus to the hall is number 12.", kind="Message", name="second")
            notes = [note(message), memtrace.variable("the bus is number 12", kind="MemoryUnit", name="bus")]
            memtrace.link(other, notes[1])
            if not is_whole:
                update(message)
            question = memtrace.variable(QUESTION, kind="Query")
            found = search(question, notes)
            memtrace.feedback(answer(found[0], question), gold="418")

    for is_whole in (True, False):
        project = sqlite_database.project(f"weak-{is_whole}")
        case = await judged(lambda: program(is_whole=is_whole), project, tmp_path)  # noqa: B023
        (verdict,) = case.verdicts
        assert (verdict.error_type, case.blamed(verdict)) == (ErrorType.RETRIEVAL, "search")
        assert (verdict.confidence >= 0.9) is is_whole
        assert ("no change of the memory is recorded of update" in verdict.reason) is not is_whole


@pytest.mark.parametrize(
    ("name", "most", "is_full"), [("limit", 2, True), ("top_k", 2, True), ("limit", 3, False), ("threshold", 2, False)]
)
async def test_a_search_that_returned_as_many_as_it_may_says_so(
    sqlite_database: Database, tmp_path: Path, name: str, most: int, is_full: bool
) -> None:
    @memtrace.operation(kind="Retrieval", attributes={"store": "shelf", "filters": {"user_id": "u1"}, name: most})
    def search(question: str, notes: list[str]) -> list[str]:
        return notes[1:]

    @memtrace.operation(kind="Generation", output="Answer")
    def reply(found: list[str], question: str) -> str:
        return "I have no note of your locker."

    def program() -> None:
        with memtrace.trace("agent", id=f"full-{name}-{most}"):
            notes = [note(memtrace.variable(SAID, kind="Message"))]
            for other in ("The bus to the hall is number 12.", "The hall closes at nine."):
                message = memtrace.variable(other, kind="Message")
                notes.append(memtrace.variable(f"User said: {other}", kind="MemoryUnit", name=other))
                memtrace.link(message, notes[-1])
            question = memtrace.variable(QUESTION, kind="Query")
            memtrace.feedback(reply(search(question, notes), question), gold="418")

    case = await judged(program, sqlite_database.project("full-search"), tmp_path)
    (verdict,) = case.verdicts
    assert (verdict.error_type, case.blamed(verdict)) == (ErrorType.RETRIEVAL, "search")
    assert ("it returned 2, and no search with its settings returns more" in verdict.reason) is is_full
    assert ("the search was limited by" in verdict.reason) is not is_full


async def test_a_store_that_is_suddenly_empty(sqlite_database: Database, tmp_path: Path) -> None:
    @memtrace.operation(kind="Retrieval", attributes={"store": "shelf", "filters": {"user_id": "u1"}})
    def search(question: str) -> list[str]:
        return []

    @memtrace.operation(kind="Update")
    def store(message: str) -> None:
        memtrace.store_unit("the locker has the number 418", store="shelf", id="1")

    def program() -> None:
        with memtrace.trace("agent", id="wiped"):
            store(memtrace.variable(SAID, kind="Message"))
            question = memtrace.variable(QUESTION, kind="Query")
            search(question)
            memtrace.feedback(answer("Known: nothing", question), gold="418")

    case = await judged(program, sqlite_database.project("wiped"), tmp_path)
    (verdict,) = case.verdicts
    assert verdict.error_type is None
    assert "the memory changed out of sight" in verdict.reason
    assert "1 unit was written and not deleted (“the locker has the number 418”)" in verdict.reason
    assert verdict.candidates[0].error_type is ErrorType.RETRIEVAL


async def test_a_reply_that_is_never_stored(sqlite_database: Database, tmp_path: Path) -> None:
    @memtrace.operation(kind="Extraction", output="Response")
    def extract(message: str) -> str:
        return "Here it is {note}: User's locker in the sports hall has the number 418"

    @memtrace.operation(kind="Retrieval")
    def search(question: str) -> list[str]:
        return []

    def program() -> None:
        with memtrace.trace("agent", id="lost-reply"):
            extract(memtrace.variable(SAID, kind="Message"))
            question = memtrace.variable(QUESTION, kind="Query")
            search(question)
            memtrace.feedback(answer("Known: nothing", question), gold="418")

    case = await judged(program, sqlite_database.project("lost-reply"), tmp_path)
    (verdict,) = case.verdicts
    assert (verdict.error_type, case.blamed(verdict)) == (ErrorType.UPDATE, "extract")
    assert "lost between the reply and the store" in verdict.reason
    assert verdict.path[-1].holds


async def test_a_look_without_a_question_that_finds_nothing(sqlite_database: Database, tmp_path: Path) -> None:
    """Such as all notes of a namespace in which nobody writes: the next call of the model was made without them."""

    @memtrace.operation(kind="Retrieval", attributes={"namespace": "oda"})
    def notes_of(user: str) -> list[str]:
        return []

    def program() -> None:
        with memtrace.trace("agent", id="listing"):
            note(memtrace.variable(SAID, kind="Message"))
            found = notes_of("oda")
            question = memtrace.variable(QUESTION, kind="Query")
            memtrace.feedback(answer("Known: " + ", ".join(found), question), gold="418")

    case = await judged(program, sqlite_database.project("listing"), tmp_path)
    (verdict,) = case.verdicts
    assert (verdict.error_type, case.blamed(verdict)) == (ErrorType.RETRIEVAL, "notes_of")
    assert "returned nothing, and was limited by (namespace=oda); 1 unit is recorded as stored" in verdict.reason


async def test_without_a_recorded_search_nobody_is_blamed(sqlite_database: Database, tmp_path: Path) -> None:
    def program() -> None:
        with memtrace.trace("agent", id="unsearched"):
            message = memtrace.variable(SAID, kind="Message")
            note(message)
            question = memtrace.variable(QUESTION, kind="Query")
            other = memtrace.variable("I play chess on Fridays.", kind="Message")
            memtrace.feedback(answer(other, question), gold="418")

    case = await judged(program, sqlite_database.project("unsearched"), tmp_path)
    (verdict,) = case.verdicts
    assert verdict.error_type is None
    assert "no search for this question is recorded" in verdict.reason
    assert verdict.candidates == () or all(one.error_type is not ErrorType.RESPONSE for one in verdict.candidates)


async def test_a_fact_of_another_trace_is_named_as_such(sqlite_database: Database, tmp_path: Path) -> None:
    @memtrace.operation(kind="Generation", output="Answer")
    def chat(message: str) -> str:
        return "I can't tell you the number."

    def program() -> None:
        with memtrace.trace("agent", id="apart"):
            chat(memtrace.variable("My locker in the sports hall is painted green.", kind="Message", name="first"))
            asked = memtrace.variable(QUESTION, kind="Message", name="second")
            memtrace.feedback(chat(asked), gold="418", question=asked)

    case = await judged(program, sqlite_database.project("apart"), tmp_path)
    (verdict,) = case.verdicts
    assert verdict.error_type is None
    assert "no message that this trace has from before the answer says anything of the right answer" in verdict.reason
    assert "let both calls belong to one trace" in verdict.reason
    assert verdict.losses == ()


async def test_a_fact_in_the_message_that_asks(sqlite_database: Database, tmp_path: Path) -> None:
    @memtrace.operation(kind="Generation", output="Answer")
    def chat(message: str) -> str:
        return "Then it is number 148."

    def program() -> None:
        with memtrace.trace("agent", id="at-once"):
            asked = memtrace.variable(f"{SAID} {QUESTION}", kind="Message")
            memtrace.feedback(chat(asked), gold="418", question=asked)

    case = await judged(program, sqlite_database.project("at-once"), tmp_path)
    (verdict,) = case.verdicts
    assert (verdict.error_type, case.blamed(verdict)) == (ErrorType.RESPONSE, "chat")


async def test_an_update_that_returns_one_of_two_new_units_lost_the_other(
    sqlite_database: Database, tmp_path: Path
) -> None:
    @memtrace.operation(kind="Extraction", output="MemoryUnit", each=True)
    def read(message: str) -> list[str]:
        return [f"{one.strip()}." for one in message.split(".") if one.strip()]

    @memtrace.operation(kind="Update", output="MemoryUnit", each=True)
    def merge(facts: list[str]) -> list[str]:
        return [one for one in facts if "locker" not in one]

    @memtrace.operation(kind="Retrieval")
    def search(question: str, notes: list[str]) -> list[str]:
        return notes[:1]

    def program() -> None:
        with memtrace.trace("agent", id="merged"):
            notes = merge(read(memtrace.variable(f"The bus to the hall leaves at nine. {SAID}", kind="Message")))
            question = memtrace.variable(QUESTION, kind="Query")
            memtrace.feedback(answer(search(question, notes)[0], question), gold="418")

    case = await judged(program, sqlite_database.project("merged"), tmp_path)
    (verdict,) = case.verdicts
    assert (verdict.error_type, case.blamed(verdict)) == (ErrorType.UPDATE, "merge")
    assert verdict.confidence >= 0.9
    assert await holes(case.graph) == []


async def test_what_a_search_returned_was_read_whatever_its_kind(sqlite_database: Database, tmp_path: Path) -> None:
    @memtrace.operation(kind="Extraction", output="MemoryUnit")
    def learn(line: str) -> str:
        return line

    @memtrace.operation(kind="Retrieval")
    def search(question: str, notes: list[str]) -> list[str]:
        return list(notes)

    @memtrace.operation(output="Prompt")
    def compose(question: str, found: list[str]) -> str:
        return f"{question}\n{' '.join(found)[:40]}"

    def program() -> None:
        with memtrace.trace("agent", id="no-message"):
            lines = [memtrace.variable(one) for one in ("The bus to the hall leaves at nine o'clock.", SAID)]
            for one in lines:
                learn(one)
            question = memtrace.variable(QUESTION, kind="Query")
            memtrace.feedback(answer(compose(question, search(question, lines)), question), gold="418")

    case = await judged(program, sqlite_database.project("no-message"), tmp_path)
    (verdict,) = case.verdicts
    assert (verdict.error_type, case.blamed(verdict)) == (ErrorType.RESPONSE, "compose")
    assert [one.holds for one in verdict.path][-1] is False


@pytest.mark.parametrize(("is_returned", "is_stored"), [(False, False), (True, False), (False, True)])
async def test_a_unit_that_an_update_out_of_sight_may_have_overwritten(
    sqlite_database: Database, tmp_path: Path, is_returned: bool, is_stored: bool
) -> None:
    kept: dict[str, str] = {}

    @memtrace.operation(kind="Extraction", output="Response" if is_stored else "MemoryUnit")
    def extract(message: str) -> str:
        return "".join([message])

    @memtrace.operation(kind="Update")
    def save(fact: str) -> None:
        kept[fact[:2]] = fact
        if is_stored:
            memtrace.store_unit(fact, store="shelf", id=fact[:2])

    @memtrace.operation(kind="Retrieval")
    def search(question: str) -> list[str]:
        return [one for one in kept.values() if "rack" in one] or list(kept.values())

    def program() -> None:
        with memtrace.trace("agent", id="overwritten"):
            save(extract(memtrace.variable(SAID, kind="Message", name="first")))
            if is_returned:
                kept["Ra"] = kept.pop("My")
            save(extract(memtrace.variable("My racket leans in the rack.", kind="Message", name="second")))
            question = memtrace.variable(QUESTION, kind="Query")
            memtrace.feedback(answer(" ".join(search(question)), question), gold="418")
            if is_returned:
                del kept["My"]
                search(memtrace.variable("And which one is it now?", kind="Query"))

    project = sqlite_database.project(f"overwritten-{is_returned}-{is_stored}")
    case = await judged(program, project, tmp_path)
    (verdict,) = case.verdicts
    if is_stored:
        assert (verdict.error_type, case.blamed(verdict)) == (ErrorType.UPDATE, "save")
    elif is_returned:
        assert (verdict.error_type, case.blamed(verdict)) == (ErrorType.RETRIEVAL, "search")
    else:
        assert verdict.error_type is None
        assert "save was given the unit with the needed fact" in verdict.reason
        assert "memtrace.store_unit(text, store=..., id=...)" in verdict.reason


async def test_a_search_that_found_nothing_in_a_memory_that_is_not_recorded(
    sqlite_database: Database, tmp_path: Path
) -> None:
    @memtrace.operation(kind="Retrieval")
    def search(question: str) -> list[str]:
        return []

    def program() -> None:
        with memtrace.trace("agent", id="nothing"):
            question = memtrace.variable(QUESTION, kind="Query")
            search(question)
            memtrace.feedback(answer("Known: nothing", question), gold="418")

    case = await judged(program, sqlite_database.project("nothing"), tmp_path)
    (verdict,) = case.verdicts
    assert (verdict.error_type, case.blamed(verdict)) == (ErrorType.RETRIEVAL, "search")
    assert verdict.reason.startswith("the search found nothing; what the memory holds is not recorded")


@pytest.mark.parametrize("is_kept", [True, False])
async def test_a_history_is_not_the_memory_of_a_program_that_keeps_replies_itself(
    sqlite_database: Database, tmp_path: Path, is_kept: bool
) -> None:
    @memtrace.operation(kind="Generation", output="Response")
    def condense(line: str) -> str:
        return f"Noted: {line}"

    @memtrace.operation(kind="Deletion", output="Buffer")
    def trim(history: list[str]) -> list[str]:
        return history[-1:]

    @memtrace.operation(output="Prompt")
    def write(note: str) -> str:
        return f"Answer with this note: {note}"

    @memtrace.operation(kind="Generation", output="Answer")
    def chat(history: list[str], prompt: str) -> str:
        return "I have no note of your locker."

    def program() -> None:
        with memtrace.trace("agent", id=f"kept-{is_kept}"):
            said = [memtrace.variable(text, kind="Message", name=text[:9]) for text in (SAID, "I play handball.")]
            notes = [condense(line) for line in said]
            question = memtrace.variable(QUESTION, kind="Query")
            history = memtrace.variable([*said, question], kind="Buffer")
            for one in (*said, question):
                memtrace.link(one, history)
            prompt = write(notes[-1] if is_kept else memtrace.variable("Be short and kind.", kind="Prompt"))
            memtrace.feedback(chat(trim(history), prompt), gold="418")

    case = await judged(program, sqlite_database.project(f"kept-{is_kept}"), tmp_path)
    (verdict,) = case.verdicts
    if is_kept:
        assert verdict.error_type is None
        assert "keeps replies of the model" in verdict.reason
        assert "in a value of its own; one of them has the needed fact (“" in verdict.reason
        assert "My locker in the sports hall" in verdict.reason
    else:
        assert (verdict.error_type, case.blamed(verdict)) == (ErrorType.DELETION, "trim")
