"""The perspective as a whole. Its form is that of Bloom's own exports, version 2.6.0; there is no published schema."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from schema.bloom.categories import categories, label_properties
from schema.bloom.phrases import templates
from schema.bloom.properties import NODES, of_relationship
from schema.bloom.stamps import MADE_AT, identity
from schema.migrations import migrations

FILE = Path(__file__).with_name("memtrace.json")

VERSION = "2.6.0"

SEGMENTS = (
    ("Session", "PART_OF", "Trace"),
    ("Operation", "IN_SESSION", "Session"),
    ("Operation", "USED", "Variable"),
    ("Variable", "GENERATED_BY", "Operation"),
    ("Variable", "DERIVED_FROM", "Variable"),
    ("Variable", "REVISION_OF", "Variable"),
    ("Variable", "INVALIDATED_BY", "Operation"),
    ("Failure", "ASKED", "Variable"),
    ("Failure", "ANSWERED", "Variable"),
    ("Failure", "EXPECTED", "Variable"),
    ("Attribution", "EXPLAINS", "Failure"),
    ("Attribution", "BLAMES", "Operation"),
    ("Attribution", "CITES", "Variable"),
    ("Attribution", "LOST", "Operation"),
)
"""What joins what: source, type, target."""

_STYLES = {
    "DERIVED_FROM": ("#4C8EDA", 2),
    "REVISION_OF": ("#FFC454", 2),
    "INVALIDATED_BY": ("#8C2F39", 2),
    "BLAMES": ("#D33F49", 3),
    "CITES": ("#F79767", 1),
    "LOST": ("#D33F49", 1),
    "EXPLAINS": ("#F79767", 1),
    "ANSWERED": ("#F16667", 1),
    "ASKED": ("#C990C0", 1),
    "EXPECTED": ("#569480", 1),
}
"""Colour and width; relationships that only say where things are stay grey."""

_GREY = ("#A5ABB6", 1)

_PALETTE = [
    "#FFE081", "#C990C0", "#F79767", "#57C7E3", "#F16667", "#D9C8AE", "#8DCC93",
    "#ECB5C9", "#4C8EDA", "#FFC454", "#DA7194", "#569480", "#848484", "#D9D9D9",
]  # fmt: skip

_INDEXED = re.compile(r"FOR \(\w+:(\w+)\) (?:ON|REQUIRE) \(?([\w., ]+?)\)?(?: IS UNIQUE)?$")


def perspective() -> dict[str, Any]:
    """The perspective, made from the models, the kinds and the migrations."""
    return {
        "name": "MemTrace",
        "id": identity(),
        "version": VERSION,
        "createdAt": MADE_AT,
        "lastEditedAt": MADE_AT,
        "categories": categories(),
        "labels": label_properties(),
        "relationshipTypes": [_relationship(name) for _, name, _ in SEGMENTS],
        "palette": {"colors": _PALETTE, "currentIndex": 0},
        "templates": templates(),
        "sceneActions": [],
        "hiddenRelationshipTypes": [],
        "hiddenCategories": [],
        "hideUncategorisedData": False,
        "isAuto": False,
        "parentPerspectiveId": None,
        "metadata": {
            "pathSegments": [
                {"source": source, "relationshipType": name, "target": target} for source, name, target in SEGMENTS
            ],
            "indexes": list(_indexes()),
            "stats": {"labels": {}, "relationshipTypes": {}},
        },
    }


def _relationship(name: str) -> dict[str, Any]:
    colour, width = _STYLES.get(name, _GREY)
    properties = of_relationship(name)
    return {
        "id": name,
        "name": name,
        "properties": [{"propertyKey": key, "type": name, "dataType": kind} for key, kind in properties.items()],
        "color": colour,
        "size": width,
        "captionKeys": ["0_REL_TYPE_CAPTION_KEY"],
    }


def _indexes() -> Iterator[dict[str, Any]]:
    """Indexes of the graph's nodes: Bloom looks up the words of a search in them."""
    for migration in migrations("neo4j"):
        for statement in migration.statements:
            found = _INDEXED.search(statement)
            if found and found[1] in NODES:
                keys = [part.partition(".")[2] for part in found[2].split(", ")]
                yield {
                    "label": found[1],
                    "type": "native",
                    "propertyKeys": [{"key": key, "metadataProp": False} for key in keys],
                }
