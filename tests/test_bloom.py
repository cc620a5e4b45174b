"""The Bloom perspective: as generated, of the form of Bloom's own exports, and with phrases that find something."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import Any

import neo4j
import pytest
import pytest_asyncio

from schema.bloom.categories import categories
from schema.bloom.perspective import FILE, SEGMENTS, perspective
from schema.bloom.phrases import PHRASES, SUGGESTIONS, Phrase
from schema.bloom.text import as_text
from schema.kinds import OperationKind, VariableKind
from store.neo4j.database import Neo4jDatabase
from store.neo4j.health import PRUNING_WALK
from tests.data import ROOT
from tests.investigation import QUESTION, UNIT, Investigation, ask, investigate
from tests.neo4j_server import Neo4jServer

# The fields of an export of Bloom 2.6.0, and what each holds.
PERSPECTIVE: dict[str, type | tuple[type, ...]] = {
    "categories": list, "name": str, "id": str, "labels": dict, "relationshipTypes": list, "palette": dict,
    "createdAt": int, "lastEditedAt": int, "templates": list, "hiddenRelationshipTypes": list,
    "hiddenCategories": list, "hideUncategorisedData": bool, "isAuto": bool,
    "parentPerspectiveId": (bool, type(None)), "metadata": dict, "sceneActions": list, "version": str,
}  # fmt: skip
CATEGORY: dict[str, type | tuple[type, ...]] = {
    "id": int, "name": str, "labels": list, "properties": list, "createdAt": int, "lastEditedAt": int, "color": str,
    "size": (int, float), "icon": str, "captionKeys": list, "styleRules": list,
}  # fmt: skip
RULE: dict[str, type | tuple[type, ...]] = {
    "id": str, "type": str, "size": int, "minSize": int, "maxSize": int, "minColor": str, "midColor": str,
    "maxColor": str, "minPoint": str, "maxPoint": str, "applyColor": bool, "applySize": bool, "applyCaption": bool,
    "captionKeys": list, "color": str, "isTimeZoneConvertEnabled": bool, "selectedTimeZone": str, "basedOn": str,
    "valuesMapper": list, "existingValues": list, "conditionValue": str, "rangeValue": type(None), "condition": str,
}  # fmt: skip
RELATIONSHIP: dict[str, type | tuple[type, ...]] = {
    "id": str, "name": str, "properties": list, "color": str, "size": int, "captionKeys": list,
}  # fmt: skip
TEMPLATE: dict[str, type | tuple[type, ...]] = {
    "name": str, "id": str, "createdAt": int, "text": str, "cypher": str, "isUpdateQuery": type(None),
    "params": list, "hasCypherErrors": bool,
}  # fmt: skip
PARAMETER: dict[str, type | tuple[type, ...]] = {
    "name": str, "dataType": str, "collapsed": bool, "suggestionLabel": (str, type(None)),
    "suggestionProp": (str, type(None)), "suggestionBoolean": bool, "cypher": (str, type(None)),
}  # fmt: skip
PROPERTY: dict[str, type | tuple[type, ...]] = {"name": str, "exclude": bool, "dataType": str}
LABEL_PROPERTY: dict[str, type | tuple[type, ...]] = {"propertyKey": str, "type": str, "dataType": str}
INDEX: dict[str, type | tuple[type, ...]] = {"label": str, "type": str, "propertyKeys": list}
SEGMENT: dict[str, type | tuple[type, ...]] = {"source": str, "relationshipType": str, "target": str}

COMMITTED: dict[str, Any] = json.loads(FILE.read_text("utf-8"))


@pytest_asyncio.fixture(scope="module")
async def seeded(neo4j_database: Neo4jDatabase) -> Investigation:
    """What the phrases are asked of."""
    return await investigate(neo4j_database)


def has_form(document: Any, form: dict[str, type | tuple[type, ...]]) -> bool:
    return document.keys() == form.keys() and all(isinstance(document[key], kind) for key, kind in form.items())


def test_the_committed_perspective_is_the_generated_one() -> None:
    assert FILE.read_text("utf-8") == as_text(perspective()), "run: python -m schema.bloom"


def test_readable_text_is_the_same_json() -> None:
    documents: list[Any] = [perspective(), [], {}, [[]], {"a": []}, [{"a": 'q"'}], "text", [None, True, 1.5]]
    for value in documents:
        assert json.loads(as_text(value)) == value


def test_the_perspective_has_the_form_of_an_export() -> None:
    assert has_form(COMMITTED, PERSPECTIVE)
    assert len(COMMITTED["palette"]["colors"]) == 14
    assert COMMITTED["metadata"].keys() == {"pathSegments", "indexes", "stats"}
    parts: list[tuple[list[Any], dict[str, type | tuple[type, ...]]]] = [
        (COMMITTED["categories"], CATEGORY),
        ([rule for one in COMMITTED["categories"] for rule in one["styleRules"]], RULE),
        ([prop for one in COMMITTED["categories"] for prop in one["properties"]], PROPERTY),
        ([prop for listed in COMMITTED["labels"].values() for prop in listed], LABEL_PROPERTY),
        (COMMITTED["relationshipTypes"], RELATIONSHIP),
        ([prop for one in COMMITTED["relationshipTypes"] for prop in one["properties"]], LABEL_PROPERTY),
        (COMMITTED["templates"], TEMPLATE),
        ([param for one in COMMITTED["templates"] for param in one["params"]], PARAMETER),
        (COMMITTED["metadata"]["indexes"], INDEX),
        (COMMITTED["metadata"]["pathSegments"], SEGMENT),
    ]
    for found, form in parts:
        assert found
        assert [one for one in found if not has_form(one, form)] == []


def test_ids_are_unique() -> None:
    for part in ("categories", "templates", "relationshipTypes"):
        ids = [one["id"] for one in COMMITTED[part]]
        assert len(set(ids)) == len(ids)
    rules = [rule["id"] for one in COMMITTED["categories"] for rule in one["styleRules"]]
    assert len(set(rules)) == len(rules)


def test_every_kind_has_a_category_and_each_node_only_one() -> None:
    labels = [label for category in categories() for label in category["labels"]]
    assert len(set(labels)) == len(labels)
    kinds = {kind.value for kind in (*VariableKind, *OperationKind)}
    assert set(labels) == kinds | {"Trace", "Session", "Failure", "Attribution"}


def test_captions_and_suggestions_are_properties() -> None:
    for category in COMMITTED["categories"]:
        names = {one["name"] for one in category["properties"]}
        assert set(category["captionKeys"][1:]) <= names
        assert {rule["basedOn"].removesuffix("_string") for rule in category["styleRules"]} <= names
    for suggestion in SUGGESTIONS.values():
        if suggestion.label is not None:
            listed = COMMITTED["labels"][suggestion.label]
            assert suggestion.property in {one["propertyKey"] for one in listed}


async def test_nodes_and_relationships_have_the_properties_that_it_names(
    seeded: Investigation, neo4j_server: Neo4jServer
) -> None:
    known = {
        category["labels"][0]: {one["name"] for one in category["properties"]} for category in COMMITTED["categories"]
    }
    nodes = await ask(
        neo4j_server,
        "MATCH (n {projectId: $project}) UNWIND labels(n) AS label UNWIND keys(n) AS key "
        "RETURN label, collect(DISTINCT key) AS found",
        project=seeded.project,
    )
    stored = {row["label"]: set(row["found"]) for row in nodes.rows}
    assert len(stored) > 15
    assert {
        label: keys - known[label] for label, keys in stored.items() if label in known and keys - known[label]
    } == {}
    joined = await ask(
        neo4j_server,
        "MATCH (a {projectId: $project})-[r]->(b) RETURN DISTINCT type(r) AS type, keys(r) AS keys, labels(a)[0] AS a, "
        "labels(b)[0] AS b",
        project=seeded.project,
    )
    described = {
        one["name"]: {prop["propertyKey"] for prop in one["properties"]} for one in COMMITTED["relationshipTypes"]
    }
    found = {(row["a"], row["type"], row["b"]) for row in joined.rows}
    assert found == set(SEGMENTS)
    assert [
        row["type"] for row in joined.rows if not set(row["keys"]) <= described[row["type"]] | {"externalKey"}
    ] == []


@pytest.mark.parametrize("phrase", PHRASES, ids=lambda phrase: phrase.name)
def test_a_phrase_says_its_parameters_and_binds_its_project(phrase: Phrase) -> None:
    assert re.findall(r"\$(\w+)", phrase.text) == list(phrase.parameters)
    assert set(re.findall(r"\$(\w+)", phrase.cypher)) == set(phrase.parameters)
    assert "{projectId: $project" in phrase.cypher or re.match(r"MATCH \(\w+:\w+ \{id: \$\w+\}\)", phrase.cypher)


def test_the_page_lists_every_phrase() -> None:
    page = (ROOT / "docs" / "bloom.md").read_text("utf-8")
    assert re.findall(r"^\| (.+?) \|", page, re.MULTILINE)[2:] == [
        re.sub(r"\$(\w+)", r"*\1*", phrase.text) for phrase in PHRASES
    ]


def test_every_file_of_a_phrase_is_used() -> None:
    assert {path.stem for path in (FILE.parent / "phrases").iterdir()} == {phrase.name for phrase in PHRASES}


@pytest.mark.parametrize("phrase", PHRASES, ids=lambda phrase: phrase.name)
async def test_a_phrase_shows_something(phrase: Phrase, seeded: Investigation, neo4j_server: Neo4jServer) -> None:
    values = {
        **asdict(seeded),
        "variable": seeded.unit,
        "question": QUESTION if phrase.name != "retrieved_for_question" else "What is Mara allergic to?",
        "type": "UpdateError",
        "name": UNIT,
        "times": "0",
    }
    given = {name: values[name] for name in phrase.parameters}
    asked = await ask(neo4j_server, phrase.cypher, **given)
    shown = [value for row in asked.rows for value in row.values() if value is not None]
    assert shown
    assert all(isinstance(value, neo4j.graph.Node | neo4j.graph.Path) for value in shown)
    assert {node["projectId"] for value in shown for node in _nodes(value)} == {seeded.project}
    walks = {name for name in asked.operators if name.startswith(("VarLength", "ShortestPath"))}
    assert walks <= {PRUNING_WALK, "ShortestPath"}
    assert "AllNodesScan" not in asked.operators
    elsewhere = {name: "none" if name != "times" else value for name, value in given.items()}
    assert (await ask(neo4j_server, phrase.cypher, **elsewhere)).rows == []


def _nodes(value: neo4j.graph.Node | neo4j.graph.Path) -> tuple[neo4j.graph.Node, ...]:
    return value.nodes if isinstance(value, neo4j.graph.Path) else (value,)


@pytest.mark.parametrize("name", [name for name, one in SUGGESTIONS.items() if one.cypher])
async def test_a_query_for_suggestions_gives_one_column(
    name: str, seeded: Investigation, neo4j_server: Neo4jServer
) -> None:
    asked = await ask(neo4j_server, SUGGESTIONS[name].cypher or "")
    assert len(asked.columns) == 1
    assert asked.rows
    if name == "project":
        assert seeded.project in {row[0] for row in asked.rows}
