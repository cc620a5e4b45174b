"""The Bloom perspective: like Bloom's exports, true to models and layout, with phrases that find something."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import Any

import neo4j
import pytest
import pytest_asyncio

from schema.kinds import ErrorType, OperationKind, VariableKind
from schema.migrations import migrations
from store.contract.answers import Label
from store.neo4j.database import Neo4jDatabase
from store.neo4j.health import PRUNING_WALK
from store.shared.columns import DECLARED
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

COMMITTED: dict[str, Any] = json.loads((ROOT / "schema" / "bloom" / "memtrace.json").read_text("utf-8"))
CATEGORIES: dict[str, dict[str, Any]] = {one["labels"][0]: one for one in COMMITTED["categories"]}
PHRASES: dict[str, dict[str, Any]] = {one["text"]: one for one in COMMITTED["templates"]}
SUGGESTIONS: dict[str, str] = {
    one["name"]: one["cypher"] for phrase in PHRASES.values() for one in phrase["params"] if one["cypher"]
}
STORED_BESIDE = {
    "Trace": {"writtenAt"},
    "Session": {"externalKey"},
    "Operation": {"externalKey"},
    "Variable": {"externalKey", "nameKey", "terms", "scope"},
    "Failure": set[str](),
    "Attribution": {"operationName", "operationKey", "methodKey"},
}
"""Properties that serve the store alone, by label: Bloom does not show them."""
USED = {"role", "position", "score"}
LOST = {"position", "piece", "errorType", "confidence"}
_INDEXED = re.compile(r"FOR \(\w+:(\w+)\) (?:ON|REQUIRE) \(?([\w., ]+?)\)?(?: IS UNIQUE)?$")


def shown(label: str) -> set[str]:
    """The public properties of a label, or of what a kind is a kind of."""
    bases = {label} if label in set(Label) else set()
    bases |= {"Variable"} if label in set(VariableKind) else set()
    bases |= {"Operation"} if label in set(OperationKind) else set()
    return {column.public_name for base in bases for column in DECLARED[Label(base)].columns}


@pytest_asyncio.fixture(scope="module")
async def seeded(neo4j_database: Neo4jDatabase) -> Investigation:
    """What the phrases are asked of."""
    return await investigate(neo4j_database)


def has_form(document: Any, form: dict[str, type | tuple[type, ...]]) -> bool:
    return document.keys() == form.keys() and all(isinstance(document[key], kind) for key, kind in form.items())


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
    labels = [label for category in COMMITTED["categories"] for label in category["labels"]]
    assert len(set(labels)) == len(labels)
    kinds = {kind.value for kind in (*VariableKind, *OperationKind)}
    assert set(labels) == kinds | {"Trace", "Session", "Failure", "Attribution"}
    assert set(COMMITTED["labels"]) == {*labels, "Variable", "Operation"}


def test_every_error_type_has_a_colour() -> None:
    assert [rule["conditionValue"] for rule in CATEGORIES["Attribution"]["styleRules"]] == list(ErrorType)


def test_properties_are_those_of_the_models() -> None:
    for label, category in CATEGORIES.items():
        names = {one["name"] for one in category["properties"] if not one["exclude"]}
        assert names <= shown(label), label
        assert set(category["captionKeys"][1:]) <= names
        assert {rule["basedOn"].removesuffix("_string") for rule in category["styleRules"]} <= names
    for label, listed in COMMITTED["labels"].items():
        assert {one["propertyKey"] for one in listed} <= shown(label), label
    for one in COMMITTED["relationshipTypes"]:
        names = {"USED": USED, "LOST": LOST, "DERIVED_FROM": shown("Derivation")}.get(one["name"], set())
        assert {each["propertyKey"] for each in one["properties"]} <= names
    for phrase in PHRASES.values():
        for parameter in phrase["params"]:
            if parameter["suggestionLabel"] is not None:
                assert parameter["suggestionProp"] in shown(parameter["suggestionLabel"])


def test_indexes_are_those_of_the_layout() -> None:
    statements = [statement for migration in migrations("neo4j") for statement in migration.statements]
    layout = {
        (found[1], *(part.partition(".")[2] for part in found[2].split(", ")))
        for found in map(_INDEXED.search, statements)
        if found and found[1] in STORED_BESIDE
    }
    listed = [
        (one["label"], *(part["key"] for part in one["propertyKeys"])) for one in COMMITTED["metadata"]["indexes"]
    ]
    assert sorted(listed) == sorted(layout)


async def test_nodes_and_relationships_have_the_properties_that_it_names(
    seeded: Investigation, neo4j_server: Neo4jServer
) -> None:
    known = {label: {one["name"] for one in category["properties"]} for label, category in CATEGORIES.items()}
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
    assert found == {
        (one["source"], one["relationshipType"], one["target"]) for one in COMMITTED["metadata"]["pathSegments"]
    }
    assert [
        row["type"] for row in joined.rows if not set(row["keys"]) <= described[row["type"]] | {"externalKey"}
    ] == []


@pytest.mark.parametrize("text", PHRASES)
def test_a_phrase_says_its_parameters_and_binds_its_project(text: str) -> None:
    cypher = PHRASES[text]["cypher"]
    parameters = [one["name"] for one in PHRASES[text]["params"]]
    assert re.findall(r"\$\w+", text) == parameters
    assert set(re.findall(r"\$\w+", cypher)) == set(parameters)
    assert "{projectId: $project" in cypher or re.match(r"MATCH \(\w+:\w+ \{id: \$\w+\}\)", cypher)


def test_the_page_lists_every_phrase() -> None:
    page = (ROOT / "docs" / "bloom.md").read_text("utf-8")
    assert re.findall(r"^\| (.+?) \|", page, re.MULTILINE)[2:] == [
        re.sub(r"\$(\w+)", r"*\1*", text) for text in PHRASES
    ]


@pytest.mark.full
@pytest.mark.parametrize("text", PHRASES)
async def test_a_phrase_shows_something(text: str, seeded: Investigation, neo4j_server: Neo4jServer) -> None:
    phrase = PHRASES[text]
    values = {
        **asdict(seeded),
        "variable": seeded.unit,
        "question": "What is Mara allergic to?" if text.startswith("What was retrieved") else QUESTION,
        "type": "UpdateError",
        "name": UNIT,
        "times": "0",
    }
    given = {name: values[name] for name in re.findall(r"\$(\w+)", text)}
    asked = await ask(neo4j_server, phrase["cypher"], **given)
    visible = [value for row in asked.rows for value in row.values() if value is not None]
    assert visible
    assert all(isinstance(value, neo4j.graph.Node | neo4j.graph.Path) for value in visible)
    assert {node["projectId"] for value in visible for node in _nodes(value)} == {seeded.project}
    walks = {name for name in asked.operators if name.startswith(("VarLength", "ShortestPath"))}
    assert walks <= {PRUNING_WALK, "ShortestPath"}
    assert "AllNodesScan" not in asked.operators
    elsewhere = {name: "none" if name != "times" else value for name, value in given.items()}
    assert (await ask(neo4j_server, phrase["cypher"], **elsewhere)).rows == []


def _nodes(value: neo4j.graph.Node | neo4j.graph.Path) -> tuple[neo4j.graph.Node, ...]:
    return value.nodes if isinstance(value, neo4j.graph.Path) else (value,)


@pytest.mark.full
@pytest.mark.parametrize("name", SUGGESTIONS)
async def test_a_query_for_suggestions_gives_one_column(
    name: str, seeded: Investigation, neo4j_server: Neo4jServer
) -> None:
    asked = await ask(neo4j_server, SUGGESTIONS[name])
    assert len(asked.columns) == 1
    assert asked.rows
    if name == "$project":
        assert seeded.project in {row[0] for row in asked.rows}
