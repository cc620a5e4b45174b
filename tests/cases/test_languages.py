"""The memory and the messages are in different languages: words can't be compared, so no loss may be claimed."""

from __future__ import annotations

from pathlib import Path

import memtrace
import pytest

from attribution.text.languages import are_comparable
from schema.kinds import ErrorType
from store.contract.protocol import Database
from tests.cases.recorded import Case, judged

HAN = (
    "我对花生过敏，做饭的时候请注意。",
    "The user is allergic to peanuts",
    "我对什么食物过敏？",
    "花生",
    "您没有说过对什么食物过敏。",
)
LATIN = (
    "Ich bin gegen Haselnüsse allergisch und das ist mir wichtig.",
    "The user has an allergy to hazelnuts and it is of importance to him.",
    "Wogegen bin ich allergisch?",
    "Haselnüsse",
    "Davon hast du mir nichts erzählt.",
)
SAME = (HAN[0], "用户喜欢做饭", *HAN[2:])


async def _case(database: Database, folder: Path, name: str, texts: tuple[str, str, str, str, str]) -> Case:
    said, kept, asked, gold, wrong = texts

    @memtrace.operation(kind="Extraction", output="MemoryUnit")
    def extract(message: str) -> str:
        return kept

    @memtrace.operation(kind="Retrieval")
    def search(question: str, notes: list[str]) -> list[str]:
        return notes[:1]

    @memtrace.operation(kind="Generation", output="Answer")
    def answer(question: str, facts: list[str]) -> str:
        return wrong

    def program() -> None:
        with memtrace.trace("agent", id=name):
            notes = [extract(memtrace.variable(said, kind="Message"))]
            question = memtrace.variable(asked, kind="Query")
            memtrace.feedback(answer(question, search(question, notes)), gold=gold)

    return await judged(program, database.project(name), folder)


@pytest.mark.parametrize(("name", "texts"), [("han", HAN), ("latin", LATIN)])
async def test_nothing_is_claimed_about_a_translated_memory(
    sqlite_database: Database, tmp_path: Path, name: str, texts: tuple[str, str, str, str, str]
) -> None:
    (verdict,) = (await _case(sqlite_database, tmp_path, name, texts)).verdicts
    assert verdict.error_type is None
    assert "in another language than the message" in verdict.reason
    assert "--method llm" in verdict.reason
    assert all(one.error_type is not ErrorType.EXTRACTION for one in verdict.candidates)


async def test_a_loss_within_one_language_is_claimed(sqlite_database: Database, tmp_path: Path) -> None:
    case = await _case(sqlite_database, tmp_path, "same", SAME)
    (verdict,) = case.verdicts
    assert (verdict.error_type, case.blamed(verdict)) == (ErrorType.EXTRACTION, "extract")


@pytest.mark.parametrize(
    ("word", "sentence", "text", "is_comparable"),
    [
        ("花生", "我对花生过敏", "The user is allergic to peanuts", False),
        ("花生", "我对花生过敏", '{"facts": ["对花生过敏"]}', True),
        ("postgres", "我们用 Postgres", "The team uses Postgres", True),
        ("хлеб", "Я люблю хлеб", "The user likes bread", False),
        ("オウム", "オウムを飼っています", "用户养了一只鹦鹉", True),  # both in characters of Chinese
        ("nüss", "Ich bin gegen die Nüsse allergisch", "The user is allergic to the nuts", False),
        ("nüss", "Ich bin gegen die Nüsse allergisch", "Allergie: Nüsse", True),  # no language tells
        ("room", "We are in room 114", "", True),
    ],
)
def test_texts_are_compared_within_one_script_and_language(
    word: str, sentence: str, text: str, is_comparable: bool
) -> None:
    assert are_comparable([word], sentence, text) is is_comparable
