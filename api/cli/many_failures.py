"""The wrong answers that the lines of a file of right answers name."""

from __future__ import annotations

from collections.abc import Sequence

from api.cli.choosing import asked_of, wrong_answer
from api.cli.gold_file import GoldLine
from api.cli.render.text import short
from ingest.events.feedback import Complaint, failure_of
from schema.errors import InputError, MemTraceError
from schema.models import Failure
from schema.words import words
from store.contract.protocol import GraphStore


async def misfits_and_failures(
    store: GraphStore, lines: Sequence[GoldLine], comment: str | None, trace: str | None, author: str
) -> tuple[list[tuple[int, str]], list[Failure]]:
    """The failures that lines report, not stored yet. Lines without a right answer report nothing.

    Args:
        store: the project.
        lines: of the file.
        comment: a comment on each failure.
        trace: only answers of this trace; None for all.
        author: who reports the failures.

    Returns:
        The number of each line that does not fit, with the problem; and the failures of the others.
    """
    misfits: list[tuple[int, str]] = []
    found: dict[str, Failure] = {}
    said_by: dict[str, int] = {}
    for line in lines:
        try:
            failure = await _failure(store, line, comment, trace, author)
        except MemTraceError as error:
            misfits.append((line.number, str(error)))
            continue
        if failure is None:
            continue
        first = said_by.setdefault(failure.id, line.number)
        if first != line.number and found[failure.id].gold_answers != failure.gold_answers:
            problem = (
                f"line {first} has another right answer for the same answer; write both in one line, as a JSON list"
            )
            misfits.append((line.number, problem))
            continue
        found[failure.id] = failure
    return misfits, list(found.values())


async def _failure(
    store: GraphStore, line: GoldLine, comment: str | None, trace: str | None, author: str
) -> Failure | None:
    """The failure of a line; None if the line says no right answer.

    Raises:
        MemTraceError: the line does not fit.
    """
    if line.problem:
        raise InputError("", "", line.problem)
    if not line.gold:
        return None
    answered = await wrong_answer(store, line.named, trace)
    asked = await asked_of(store, answered, line.question)
    failure = await failure_of(store, Complaint(asked.id, answered.id, line.gold, (), comment), author)
    said = words(failure.prediction or "")
    if said and any(said == words(gold) for gold in line.gold):
        raise InputError(
            "", "", f"{short(answered.id)} is the right answer itself: memtrace right {short(answered.id)}"
        )
    return failure
