"""A narrower or broader word is not the gold answer; the same word in another form, or a synonym, is."""

from __future__ import annotations

from pathlib import Path

import memtrace

from schema.kinds import ErrorType
from store.contract.protocol import Database
from tests.cases.recorded import judged

WRONG = [
    ("Which bird is on the coat of arms?", "The coat of arms shows a falcon.", "A falcon", "A kestrel"),
    ("What does Ida play?", "Ida plays a trumpet in the band.", "A trumpet", "A brass instrument"),
    ("Which tree was felled?", "They felled a pine behind the barn.", "A pine", "A stone pine"),
    ("What does Bo drink in the morning?", "Bo drinks coffee in the morning.", "Coffee", "Espresso"),
    ("Which colour is the boat?", "The boat is green.", "Green", "Olive"),
    ("Which fish did Tom catch?", "Tom caught a trout.", "A trout", "A rainbow trout"),
    ("How many goats has Ute?", "Ute has 12 goats.", "12", "13"),
    ("How long is the tour?", "The tour lasts three weeks.", "three weeks", "three days"),
    ("When does the ferry leave?", "The ferry leaves at quarter past nine.", "quarter past nine", "9:45"),
    ("Which code has the shed?", "The code of the shed is 70-245.", "70-245", "70-254"),
]
RIGHT = [
    ("What did Eva buy?", "Eva bought a sofa for the hall.", "A sofa", "A couch"),
    ("What does Jim drive?", "Jim drives an old car.", "A car", "An automobile"),
    ("What is Lea's job?", "Lea is an attorney in Basel.", "An attorney", "She is a lawyer"),
    ("What does Max collect?", "Max collects stamps.", "Stamps", "He collects stamps."),
    ("How long was the trip?", "The trip took a fortnight.", "a fortnight", "It took 14 days."),
    ("When opens the mill?", "The mill opens at half past eight.", "half past eight", "At 8:30."),
    ("How heavy is the anchor?", "The anchor weighs 3 kg.", "3 kg", "3000 grams"),
    ("A que horas abre a loja?", "A loja abre às quatro da tarde.", "às quatro da tarde", "Às 16h."),
]


async def test_narrower_and_broader(sqlite_database: Database, tmp_path: Path) -> None:
    @memtrace.operation(kind="Extraction", output="MemoryUnit")
    def note(message: str) -> str:
        return f"noted: {message}"

    @memtrace.operation(kind="Retrieval")
    def search(question: str, notes: list[str]) -> list[str]:
        return notes

    @memtrace.operation(kind="Generation", output="Answer")
    def answer(question: str, facts: list[str]) -> str:
        return answers[question]

    answers = {question: said for question, _, _, said in (*WRONG, *RIGHT)}

    def program() -> None:
        with memtrace.trace("quiz", id="quiz"):
            stories = (*WRONG, *RIGHT)
            notes = [note(memtrace.variable(text, kind="Message", name=text)) for _, text, _, _ in stories]
            for text, _, gold, _ in stories:
                question = memtrace.variable(text, kind="Query", name=text)
                memtrace.feedback(answer(question, search(question, notes)), gold=gold)

    case = await judged(program, sqlite_database.project("narrower"), tmp_path)
    found = {
        failure.question: verdict.error_type for failure, verdict in zip(case.failures, case.verdicts, strict=True)
    }
    assert {question: found[question] for question, *_ in WRONG} == {one[0]: ErrorType.RESPONSE for one in WRONG}
    assert {question: found[question] for question, *_ in RIGHT} == {one[0]: ErrorType.JUDGE for one in RIGHT}
