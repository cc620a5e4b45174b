"""The command line, GraphQL and the drawing tell the same, on both engines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from xml.etree import ElementTree

import msgspec
import pytest

import api.graphql.spine
from api.cli import documents
from attribution.run import Options, attribute
from attribution.spine.draw import svg
from attribution.spine.find import spines
from attribution.spine.model import Role, Spine, State
from attribution.verdicts.verdict import from_attribution
from schema.errors import InputError
from schema.models import Failure
from store.contract.protocol import Database
from tests.attribution.flow.stories import Story
from tests.attribution.spine.checking import check
from tests.attribution.why_not import graphs
from tests.attribution.why_not.test_doors import GRAPHS, Graph, asked, engine, kept
from tests.cli.conftest import Cli

pytestmark = pytest.mark.one_engine

__all__ = ["engine"]

_DOCUMENT = """query Spine($project: String!, $id: String!, $most: Int! = 25) {
  project(name: $project) { failure(reference: $id) { spine(maxBoxes: $most) {
    verdictId variableCount verdict { id }
    pieces { text errorType operationId operationName confidence reached }
    boxes {
      number kind label text count kinds { kind count } variableIds operationIds layer roles states { piece state }
      isOthers isDecisive isPast variables(first: 500) { nodes { id } } operations { id }
    }
    edges { source target derivations operations { name kind count isDecisive } lost }
  } } }
}"""


async def written(database: Database, graph: Graph, is_judged: bool = True) -> tuple[Story, Failure]:
    """A failure that is written to a project of its own, with a verdict or without."""
    story, failure = graph(f"spine-{token_hex(4)}")
    store = database.project(story.trace.project)
    await story.trace.write(store)
    if is_judged:
        async for _ in attribute(store, [failure], Options()):
            pass
    return story, failure


async def found(database: Database, failure: Failure, most: int = 25) -> Spine:
    """The spine of a failure."""
    return (await spines(database.project(failure.project_id), [failure], most))[failure.id]


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda one: one.__name__)
async def test_graphql(database: Database, graph: Graph) -> None:
    story, failure = await written(database, graph)
    spine = await found(database, failure)
    (verdict,) = await database.project(failure.project_id).attributions([failure.id])
    check(spine, failure, from_attribution(verdict), story.trace.derivations, 25)
    assert spine.attribution_id == verdict.id
    assert any(one.state is State.LOST for box in spine.boxes for one in box.states)
    assert any(box.is_decisive for box in spine.boxes)
    told = await asked(database, failure.project_id, _DOCUMENT, id=failure.id)
    assert told.errors is None, told.errors
    given = told.data["project"]["failure"]["spine"]
    document = documents.spine(spine)
    assert given["verdict"] == {"id": verdict.id}
    for number, (box, of) in enumerate(zip(given["boxes"], document["boxes"], strict=True)):
        assert box.pop("number") == number
        assert [one["id"] for one in box.pop("variables")["nodes"]] == box.pop("variableIds") == of.pop("variables")
        assert [one["id"] for one in box.pop("operations")] == box.pop("operationIds") == of.pop("operations")
    assert given["boxes"] == document["boxes"]
    assert (given["edges"], given["pieces"]) == (document["edges"], document["pieces"])


async def test_without_a_verdict_and_without_evidence(database: Database) -> None:
    story, failure = await written(database, graphs.update, is_judged=False)
    spine = await found(database, failure)
    check(spine, failure, None, story.trace.derivations, 25)
    assert (spine.attribution_id, spine.pieces) == (None, [])
    roles = {role for box in spine.boxes for role in box.roles}
    assert roles == {Role.EVIDENCE, Role.QUESTION, Role.READ, Role.ANSWER}
    bare = replace(failure, evidence_ids=())
    check(await found(database, bare), bare, None, story.trace.derivations, 25)
    unanswered = replace(failure, evidence_ids=(), answer_id=None)
    (box,) = (await found(database, unanswered)).boxes
    assert (box.roles, box.is_past) == ([Role.QUESTION], False)


async def test_a_person_blames_what_no_path_leads_to(database: Database) -> None:
    story, failure = await written(database, graphs.extraction, is_judged=False)
    store = database.project(failure.project_id)
    by = {one.external_id: one for one in story.trace.operations}
    for name in ("extract-unit", "judge"):
        story.trace.attributions.clear()
        story.trace.attribution(failure, "human", operation_id=by[name].id, author="somebody")
        await story.trace.write(store)
        (spine,) = (await spines(store, [failure])).values()
        (box,) = [one for one in spine.boxes if one.is_decisive]
        if name == "extract-unit":
            assert box.label == "fact-unit"
        else:
            # The judge made no variable of the past, so its operation has its own box, joined to the judge's inputs.
            assert (box.kind, box.operations) == ("Operation", [by[name].id])
            assert any(spine.boxes[edge.target] is box and not edge.derivations for edge in spine.edges)


async def test_a_verdict_may_name_what_is_not_there(database: Database) -> None:
    story, failure = await written(database, graphs.update)
    store = database.project(failure.project_id)
    (verdict,) = await store.attributions([failure.id])
    step = {"variableId": "f" * 32, "operationId": None, "link": "start", "quote": "", "holds": True}
    loss = {
        "piece": "a piece", "errorType": None, "operationId": None, "confidence": 0.5, "reason": "", "reached": False,
        "path": [step],
    }  # fmt: skip
    losses = msgspec.json.encode([loss, *msgspec.json.decode(verdict.losses)]).decode()
    story.trace.attributions[:] = [replace(verdict, losses=losses)]
    await story.trace.write(store)
    spine = await found(database, failure)
    assert len(spine.pieces) == 2
    assert {one.piece for box in spine.boxes for one in box.states} == {1}


async def test_members_are_paged(database: Database) -> None:
    _, failure = await written(database, graphs.several)
    document = """query($project: String!, $id: String!, $after: String) { project(name: $project) {
      failure(reference: $id) { spine(maxBoxes: 5) { boxes {
        count variableIds variables(first: 2, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } }
      } } } } }"""
    first = await asked(database, failure.project_id, document, id=failure.id)
    boxes = first.data["project"]["failure"]["spine"]["boxes"]
    number, box = next((n, one) for n, one in enumerate(boxes) if one["count"] > 2)
    seen = [one["id"] for one in box["variables"]["nodes"]]
    while box["variables"]["pageInfo"]["hasNextPage"]:
        after = box["variables"]["pageInfo"]["endCursor"]
        page = await asked(database, failure.project_id, document, id=failure.id, after=after)
        box = page.data["project"]["failure"]["spine"]["boxes"][number]
        seen += [one["id"] for one in box["variables"]["nodes"]]
    assert seen == box["variableIds"]
    wrong = await asked(database, failure.project_id, document, id=failure.id, after="bm9uc2Vuc2U")
    assert "is not a cursor of this list" in str(wrong.errors[0])


@pytest.mark.parametrize("most", [4, 61, -1])
async def test_boxes_out_of_range(database: Database, most: int) -> None:
    _, failure = await written(database, graphs.update, is_judged=False)
    told = await asked(database, failure.project_id, _DOCUMENT, id=failure.id, most=most)
    assert f"{most} is not from 5 to 60" in str(told.errors[0])
    assert told.errors[0].extensions == {"code": "BAD_INPUT"}
    with pytest.raises(InputError, match="is not from 5 to 60"):
        await found(database, failure, most)


async def test_graphql_refuses_what_is_too_large(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    _, failure = await written(database, graphs.update, is_judged=False)
    monkeypatch.setattr(api.graphql.spine, "MAX_ELEMENTS", 5)
    told = await asked(database, failure.project_id, _DOCUMENT, id=failure.id)
    assert "memtrace spine" in str(told.errors[0])


async def test_the_drawing_is_escaped(database: Database) -> None:
    _, failure = await written(database, graphs.retrieval)
    spine = await found(database, failure)
    evil = '<script>alert("x")</script>&\x1b\u202e'
    box = msgspec.structs.replace(spine.boxes[0], label=evil, text=evil)
    edges = [
        msgspec.structs.replace(edge, operations=[msgspec.structs.replace(one, name=evil) for one in edge.operations])
        for edge in spine.edges
    ]
    hostile = msgspec.structs.replace(spine, boxes=[box, *spine.boxes[1:]], edges=edges)
    for standalone in (True, False):
        text = str(svg(hostile, evil, standalone))
        root = ElementTree.fromstring(text)
        assert {one.tag.partition("}")[2] for one in root.iter()} <= {
            "svg", "title", "desc", "style", "rect", "g", "path", "text", "circle",
        }  # fmt: skip
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert ("<style>" in text) == standalone


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda one: one.__name__)
def test_commands(engine: Cli, graph: Graph, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    failure = kept(engine, graph, monkeypatch)
    bare = engine("spine", failure.id[:10])
    assert "memtrace why" in bare.err
    engine("attribute", "--failure", failure.id)
    shown = engine("spine", failure.id).out
    assert "✕" in shown
    assert "operation to blame" in shown
    told = engine("spine", failure.id, "--json", "--boxes", "6").json
    assert len(told["boxes"]) <= 6
    assert any(edge["lost"] for edge in told["edges"])
    picture = engine("spine", failure.id, "--svg", "-").out
    assert ElementTree.fromstring(picture).tag.endswith("svg")
    file = tmp_path / "picture.svg"
    engine("spine", failure.id, "--svg", file)
    assert file.read_text("utf-8") == picture
    assert "can't be had together" in engine("spine", failure.id, "--json", "--svg", "-", code=2).err
    engine("spine", failure.id, "--boxes", "4", code=2)
    assert "can't be written" in engine("spine", failure.id, "--svg", tmp_path / "no" / "x.svg", code=1).err
