"""Damaged rows are told with a name, not with an unexpected error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from api.graphql.attribution import candidates_of, path_of
from attribution.run import Options, attribute
from attribution.verdicts.gold import gold_mark_of
from attribution.verdicts.verdict import from_attribution
from optimization.proof.model import proof_of
from schema.damage import reading_stored
from schema.errors import DamagedError, InputError, StoreError
from schema.models import Attribution
from store.contract.answers import Label
from store.open import open_database
from tests.attribution.flow.test_rules import retrieval

pytestmark = pytest.mark.one_engine


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE operation SET name_k = 999999",
        "UPDATE operation SET session_k = 999999",
        "UPDATE variable SET name_k = 999999",
        "UPDATE failure SET gold_answers = '{'",
        "UPDATE failure SET evidence_ids = '[1]'",
        "UPDATE failure SET question_k = 999999",
        "UPDATE operation SET started_at = 9223372036854775807",
        "UPDATE attribution SET failure_k = 999999",
        "UPDATE operation SET kind = 'Nonsense'",
    ],
)
async def test_rows(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "damaged.db"
    told, failure = retrieval()
    async with await open_database(f"sqlite:///{path}") as opened:
        await told.trace.write(opened.project("rules"))
        (one,) = [one async for one in attribute(opened.project("rules"), [failure], Options())]
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute(damage)
    connection.close()
    label = Label(damage.split()[1].title())
    ids = {
        Label.OPERATION: [operation.id for operation in told.trace.operations],
        Label.VARIABLE: [variable.id for variable in told.trace.variables],
        Label.FAILURE: [failure.id],
        Label.ATTRIBUTION: [one.attribution.id],
    }
    async with await open_database(f"sqlite:///{path}") as opened:
        with pytest.raises(StoreError, match=r"damaged|does not know"):
            await opened.project("rules").get(label, ids[label])


def _verdict(**damaged: str | None) -> Attribution:
    made = {
        "id": "1" * 32,
        "project_id": "p",
        "trace_id": "2" * 32,
        "failure_id": "3" * 32,
        "method": "flow",
        "evidence": "[]",
        "candidates": "[]",
        "losses": "[]",
        "attributes": "{}",
    }
    return Attribution(**{**dict.fromkeys(Attribution.__dataclass_fields__), **made, **damaged})  # type: ignore[arg-type]


READERS: dict[str, list[Callable[[Attribution], object]]] = {
    "evidence": [from_attribution, path_of],
    "candidates": [from_attribution, candidates_of],
    "losses": [from_attribution],
    "attributes": [from_attribution, gold_mark_of],
    "proof": [proof_of],
}


@pytest.mark.parametrize("text", ["", "{", "[{}]", "[1]", '{"a"', "[" * 5000])
@pytest.mark.parametrize("column", READERS)
def test_verdicts(column: str, text: str) -> None:
    for read in READERS[column]:
        if text == "[{}]" and read in {path_of, candidates_of}:
            continue  # these leave out what is missing
        with pytest.raises(DamagedError, match=r"1{32} can't be read"):
            read(_verdict(**{column: text}))


def test_expected_errors_stay_what_they_are() -> None:
    with pytest.raises(InputError), reading_stored("x"):
        raise InputError("a", "b", "c")
    with pytest.raises(DamagedError) as raised, reading_stored("rows of X"):
        raise KeyError("a secret value")
    assert str(raised.value).startswith("rows of X can't be read (KeyError)")
    assert "secret" not in str(raised.value)
