"""A dictionary that a decorated update changes in place: what to record is said, and recording it decides."""

from __future__ import annotations

from pathlib import Path

import memtrace
import pytest

from attribution.trace.holes import holes
from schema.kinds import ErrorType
from store.contract.protocol import Database
from tests.cases.recorded import Case, judged

SAID = ("I keep my canoe in Bewdley.", "My aunt keeps hers in Arley.")
QUESTION = "Where do I keep my canoe?"


async def _judged(database: Database, folder: Path, name: str, *, is_wrapped: bool, is_given: bool) -> Case:
    profile: dict[str, str] = {}

    @memtrace.operation(kind="Update")
    def update_profile(profile: dict[str, str], message: str) -> None:
        place = message.rstrip(".").rpartition(" ")[2]
        if is_wrapped:
            with memtrace.mutation(profile):
                profile["canoe"] = place
        else:
            profile["canoe"] = place

    @memtrace.operation(kind="Retrieval")
    def look_up(question: str, known: dict[str, str] | None = None) -> list[str]:
        return [f"canoe: {(profile if known is None else known)['canoe']}"]

    @memtrace.operation(kind="Generation", output="Answer")
    def reply(question: str, slots: list[str]) -> str:
        return "It says " + ", ".join(slots)

    def program() -> None:
        with memtrace.trace("profile", id=name):
            for text in SAID:
                update_profile(profile, memtrace.variable(text, kind="Message"))
            question = memtrace.variable(QUESTION, kind="Query")
            found = look_up(question, profile) if is_given else look_up(question)
            memtrace.feedback(reply(question, found), gold="In Bewdley")

    return await judged(program, database.project(name), folder)


@pytest.mark.parametrize(
    ("is_wrapped", "fix"),
    [
        (False, "update_profile records no change of the memory: if it changes in place what it is given, put `with "),
        (True, "give look_up the memory that it looks into, as an argument"),
    ],
)
async def test_the_verdict_and_the_check_say_the_same_next_step(
    sqlite_database: Database, tmp_path: Path, is_wrapped: bool, fix: str
) -> None:
    name = f"in-place-{is_wrapped}"
    case = await _judged(sqlite_database, tmp_path, name, is_wrapped=is_wrapped, is_given=False)
    (verdict,) = case.verdicts
    assert verdict.error_type is None
    assert fix in verdict.reason
    assert any(one.fix.startswith(fix) for one in await holes(case.graph))
    assert "memtrace.variable" not in verdict.reason


async def test_the_update_is_blamed_once_both_are_recorded(sqlite_database: Database, tmp_path: Path) -> None:
    case = await _judged(sqlite_database, tmp_path, "in-place-whole", is_wrapped=True, is_given=True)
    (verdict,) = case.verdicts
    assert (verdict.error_type, case.blamed(verdict)) == (ErrorType.UPDATE, "update_profile")
    assert await holes(case.graph) == []
