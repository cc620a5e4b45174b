"""The losses of a verdict (where each needed piece ended) are stored with the verdict and can be queried."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest

from schema.errors import InputError
from schema.kinds import QuestionKind
from schema.models import Batch
from store.contract.protocol import GraphStore
from store.open import open_database
from tests.contract.samples import assistant


@pytest.mark.each_engine
async def test_losses_are_kept_and_replaced(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    (verdict,) = trace.attributions
    assert await store.attributions([verdict.failure_id]) == [verdict]
    lost: list[dict[str, Any]] = [
        {"piece": "ünï 💥", "operationId": trace.operations[2].id, "errorType": None, "confidence": None},
        {"piece": None},
    ]
    for text, kind in ((json.dumps(lost), None), ("[]", QuestionKind.INFERRED), (verdict.losses, QuestionKind.PLAIN)):
        new = replace(verdict, losses=text, question_kind=kind)
        await store.write(Batch(trace.trace, attributions=[new]))
        assert await store.attributions([verdict.failure_id]) == [new]


async def test_what_lost_a_piece_must_be_stored(store: GraphStore, project: str) -> None:
    trace, other = assistant(project), assistant(project, "other")
    await trace.write(store)
    await other.write(store)
    (verdict,) = trace.attributions
    for id_ in ("0" * 32, other.operations[0].id, trace.variables[0].id):
        lost = json.dumps([{"piece": "x", "operationId": id_}])
        with pytest.raises(InputError, match=id_):
            await store.write(Batch(trace.trace, attributions=[replace(verdict, losses=lost)]))
    with pytest.raises(InputError, match=f"losses of {verdict.id}: no JSON"):
        await store.write(Batch(trace.trace, attributions=[replace(verdict, losses="{")]))
    assert await store.attributions([verdict.failure_id]) == [verdict]


async def test_other_programs_find_in_a_file_what_lost_something(tmp_path: Path) -> None:
    path, trace = tmp_path / "one.db", assistant("one")
    async with await open_database(f"sqlite:///{path}") as database:
        await trace.write(database.project("one"))
    (verdict,) = trace.attributions
    connection = apsw.Connection(str(path))
    ids = (verdict.project_id, verdict.trace_id, verdict.failure_id, verdict.id)
    text = (
        "SELECT project_id, trace_id, failure_id, attribution_id, position, piece, error_type, confidence, operation_id"
    )
    found = connection.execute(f"{text} FROM lost ORDER BY position").fetchall()
    extract, update = trace.operations[0].id, trace.operations[1].id
    assert found == [
        (*ids, 0, "moved on to Bergen", "UpdateError", 0.5, update),
        (*ids, 2, "Oslo", "UpdateError", 0.75, extract),
        (*ids, 3, "to", "UpdateError", 0.875, update),
    ]
    connection.close()
