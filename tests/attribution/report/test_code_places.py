"""The place in the code of an operation is its own, or that of the nearest operation around it."""

from __future__ import annotations

import json
from pathlib import Path

from attribution.report.code_places import code_places
from attribution.report.gather import gather
from schema.kinds import OperationKind, VariableKind
from schema.models import Operation
from store.open import open_database
from tests.factory import TraceBuilder


async def test_the_place_of_the_nearest_operation_around(tmp_path: Path) -> None:
    told = TraceBuilder("shop")

    def step(name: str, around: str | None, location: str | None = None) -> Operation:
        attributes = json.dumps({} if around is None else {"parentId": around})
        return told.operation(name, kind=OperationKind.UPDATE, location=location, attributes=attributes)

    wanted = {
        step("outside", None, "app.py:1 main").id: "app.py:1 main",
        step("call", "outside", "app.py:5 tell").id: "app.py:5 tell",
        step("inner", "call").id: "app.py:5 tell",
        step("innermost", "inner").id: "app.py:5 tell",
        step("alone", None).id: None,
        step("lost", "nothing").id: None,
        step("loop", "loop").id: None,
    }
    question = told.variable("question", "Which pet?", kind=VariableKind.QUERY)
    failure = told.failure(question)
    blamed = next(one for one in told.operations if one.external_id == "innermost")
    told.attribution(failure, "flow", operation_id=blamed.id)
    async with await open_database(f"sqlite:///{tmp_path / 'places.db'}") as database:
        store = database.project("shop")
        await told.write(store)
        assert await code_places(store, told.operations) == {id_: place for id_, place in wanted.items() if place}
        (case,) = await gather(store, [failure])
    assert case.operation is not None
    assert case.operation.location == "app.py:5 tell"
