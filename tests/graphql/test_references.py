"""References may be prefixes of ids, and ids in the source."""

from __future__ import annotations

import pytest
from strawberry import ID

from api.graphql.inputs import FailureInput
from api.graphql.judgements import complaint_of
from api.settings.loading import open_databases
from schema.kinds import VariableKind
from store.contract.protocol import Database
from tests.contract.samples import assistant
from tests.factory import TraceBuilder
from tests.graphql.changing import change, complain, judge
from tests.graphql.world import World
from tests.server.running import RunningServer

pytestmark = [pytest.mark.usefixtures("nobody_has_judged"), pytest.mark.one_engine]


_BRIEF = """{ __typename ... on Problem { message code } ... on Conflict { candidates } """


def test_beginnings_of_ids_and_ids_in_the_source_will_do(world: World) -> None:
    ids = world.ids
    said = complain(world, answer=ids["answer"][:8], evidence=[ids["message"][:12]])
    assert said["failure"]["id"] == ids["failure"]
    assert said["failure"]["evidenceIds"] == [ids["message"]]
    assert complain(world, question=ids["question"][:8], answer=ids["answer"])["failure"]["id"] == ids["failure"]
    verdict = judge(world, failure=ids["failure"][:8], errorType="UpdateError", operation=ids["operation"][:8])
    assert verdict["attribution"]["operationId"] == ids["operation"]
    text = "mutation($p: String!, $id: ID!) { withdrawVerdict(project: $p, id: $id) "
    text += _BRIEF + "... on VerdictWithdrawn { id } } }"
    withdrawn = change(world, text, {"id": verdict["attribution"]["id"][:8]})
    assert withdrawn["id"] == verdict["attribution"]["id"]
    assert change(world, text, {"id": verdict["attribution"]["id"]})["code"] == "NOT_FOUND"
    assert "name what was asked" in complain(world)["message"]
    assert "does not say what was asked" in complain(world, answer=ids["message"])["message"]


async def test_a_question_is_looked_up_in_the_trace_of_its_answer(sqlite_database: Database) -> None:
    """Applications number their questions anew in each trace."""
    store = sqlite_database.project("questions of two traces")
    for name in ("first", "second"):
        trace = TraceBuilder(store.project_id, name)
        question = trace.variable("question-1", f"what is in the {name}?", kind=VariableKind.QUERY)
        answer = trace.variable(f"answer of the {name}", "nothing", kind=VariableKind.ANSWER)
        await trace.write(store)
        asked = FailureInput(question=ID("question-1"), answer=ID(answer.id), gold_answers=["something"])
        complaint = await complaint_of(store, asked)
        assert (complaint.question_id, complaint.answer_id) == (question.id, answer.id)


def test_fields_take_references(world: World) -> None:
    ids = world.ids
    text = """query($p: String!, $t: String!, $v: String!, $a: ID!, $m: ID!, $b: ID!, $u: ID!) { project(name: $p) {
      failures(trace: $t) { nodes { id } } search(text: "Mara", trace: $t) { variable { id } }
      statistics(trace: $t) { labels { label count } } variable(reference: $v, trace: $t) { id }
      paths(source: $a, target: $m) { variables { id } } diff(before: $b, after: $u) { isEqual } } }"""

    def named(trace: str, length: int) -> dict[str, str]:
        keys = {"v": "unit", "a": "answer", "m": "message", "b": "before", "u": "unit"}
        return {"p": world.project, "t": trace} | {name: ids[key][:length] for name, key in keys.items()}

    whole = world.ask(text, named(ids["trace"], 32))
    assert whole["project"]["search"] != []
    assert whole["project"]["paths"] != []
    assert world.ask(text, named(ids["trace"][:8], 8)) == whole
    assert world.ask(text, named(ids["trace_external"], 12)) == whole
    nothing = world.ask(text, named("nowhere", 32))["project"]
    assert (nothing["failures"]["nodes"], nothing["search"], nothing["variable"]) == ([], [], None)


async def test_half_an_id_deletes_nothing(world: World, server: RunningServer) -> None:
    delete = "mutation($p: String!, $id: ID!) { deleteTrace(project: $p, id: $id) "
    delete += _BRIEF + "... on TraceDeleted { id } } }"
    first = assistant(world.project, "to be deleted")
    twin = TraceBuilder(world.project, first.trace.id[:16])
    twin.variable("m", "called as the other's id begins")
    async with await open_databases(server.place.settings()) as database:
        for trace in (first, twin):
            await trace.write(database.project(world.project))
    refused = change(world, delete, {"id": first.trace.id[:20]}, "admin")
    assert (refused["__typename"], refused["code"]) == ("InvalidInput", "BAD_INPUT")
    assert f"is the beginning of {first.trace.id}: a trace is deleted by its whole id" in refused["message"]
    ambiguous = change(world, delete, {"id": first.trace.id[:16]}, "admin")
    assert (ambiguous["__typename"], ambiguous["code"]) == ("Conflict", "AMBIGUOUS")
    assert set(ambiguous["candidates"]) == {first.trace.id, twin.trace.id}
    assert change(world, delete, {"id": "to be deleted"}, "admin")["id"] == first.trace.id
    assert change(world, delete, {"id": first.trace.id}, "admin")["code"] == "NOT_FOUND"
    assert change(world, delete, {"id": twin.trace.id}, "admin")["id"] == twin.trace.id


def test_jobs_take_references_too(world: World) -> None:
    ids = world.ids
    text = """mutation($p: String!, $f: [ID!]!, $t: [ID!]!) { report(project: $p, input: {failures: $f, traces: $t}) {
      __typename ... on Problem { message code } ... on JobStarted { job { arguments } } } }"""
    started = change(world, text, {"f": [ids["failure"][:8], ids["failure"]], "t": [ids["trace_external"]]})
    assert started["job"]["arguments"]["failure_ids"] == [ids["failure"]] * 2
    assert started["job"]["arguments"]["trace_ids"] == [ids["trace"]]
    assert change(world, text, {"f": ["nothing"], "t": []})["code"] == "NOT_FOUND"
    many = change(world, text, {"f": [f"{number:08x}" for number in range(101)], "t": []})
    assert many["code"] == "BAD_INPUT"
