"""References through every interface: a whole id names its element, even if a writer uses the same text as an id in the
source.
"""

from __future__ import annotations

import asyncio
import json

import pytest

from api.settings.loading import open_databases
from store.contract.answers import Label
from tests.contract.samples import assistant
from tests.factory import TraceBuilder
from tests.server.running import RunningServer

pytestmark = pytest.mark.one_engine

LOOK = """query($p: String!, $v: String!, $t: String!) { project(name: $p) {
  variable(reference: $v) { id } trace(reference: $t) { id } } }"""


async def test_a_whole_id_is_not_what_another_is_called(server: RunningServer) -> None:
    named = assistant(server.project, "named")
    variable, operation = named.variables[0], named.operations[0]
    impostor = TraceBuilder(server.project, named.trace.id)
    impostor.operation(operation.id)
    impostor.variable(variable.id, "the impostor's value")
    impostor.variable(operation.id, "named like an operation")
    half = TraceBuilder(server.project, named.trace.id[:16])
    half.variable(variable.id[:16], "named like the beginning of an id")
    async with await open_databases(server.place.settings()) as database:
        for trace in (named, impostor, half):
            await trace.write(database.project(server.project))

    with server.client("reader") as reader:
        assert reader.get(f"/v1/values/{variable.id}").text == named.text(variable)
        assert reader.get(f"/v1/values/{operation.id}").status_code == 404
        refused = reader.get(f"/v1/values/{variable.id[:16]}")
        assert refused.status_code == 409
        assert variable.id in refused.json()["candidates"]
        assert {"id": variable.id, "label": "Variable", "name": variable.name, "traceId": named.trace.id} in (
            refused.json()["described"]
        )
        asked = {"p": server.project, "v": variable.id, "t": named.trace.id}
        answer = reader.post("/graphql", json={"query": LOOK, "variables": asked}).json()["data"]["project"]
        assert answer == {"variable": {"id": variable.id}, "trace": {"id": named.trace.id}}
        asked = {"p": server.project, "v": variable.id, "t": named.trace.id[:16]}
        (error,) = reader.post("/graphql", json={"query": LOOK, "variables": asked}).json()["errors"]
        assert error["extensions"]["code"] == "AMBIGUOUS"
        assert named.trace.id in error["extensions"]["candidates"]

    async def memtrace(*arguments: str) -> tuple[int, str, str]:
        ran = await asyncio.to_thread(server.place.here, "--project", server.project, *arguments)
        return ran.returncode, ran.stdout, ran.stderr

    assert (await memtrace("value", variable.id))[:2] == (0, named.text(variable))
    root = json.loads((await memtrace("closure", operation.id, "--json"))[1])["root"]
    assert root == operation.id
    code, _, problem = await memtrace("delete", named.trace.id[:16], "--yes")
    lines = [f"delete {named.trace.id} --yes", f"delete {half.trace.id[:8]} --yes"]
    assert (code, [line in problem for line in lines]) == (2, [True, True])
    code, deleted, _ = await memtrace("delete", named.trace.id, "--yes", "--json")
    assert (code, json.loads(deleted)["traceId"]) == (0, named.trace.id)
    async with await open_databases(server.place.settings()) as database:
        left = await database.project(server.project).get(Label.TRACE, [named.trace.id, impostor.trace.id])
        entries = (await database.records(server.project).audit()).items
    assert left == [impostor.trace]
    assert ("deleteTrace", named.trace.id, "command line") in [(one.action, one.target, one.actor) for one in entries]
