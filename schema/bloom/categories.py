"""Categories: each node is in exactly one, that of its kind, else that of its label."""

from __future__ import annotations

import re
from typing import Any

from schema.bloom.properties import HIDDEN, NODES, of_label
from schema.bloom.stamps import MADE_AT, stamp
from schema.kinds import ErrorType, OperationKind, VariableKind

ERROR_COLOUR = "#D33F49"

_COLOURS = {
    "Message": "#8DCC93",
    "Query": "#C990C0",
    "RefinedQuery": "#ECB5C9",
    "Prompt": "#D9C8AE",
    "MemoryUnit": "#FFE081",
    "Buffer": "#FFC454",
    "Context": "#57C7E3",
    "RetrievalResult": "#4C8EDA",
    "Response": "#D9D9D9",
    "Answer": "#F16667",
    "GoldAnswer": "#569480",
    "Judgement": "#DA7194",
    "Score": "#F2A7B3",
    "Marker": "#B8B8B8",
    "Extraction": "#3E7C59",
    "Update": "#B58B00",
    "Deletion": "#8C2F39",
    "Retrieval": "#2B5C9E",
    "Generation": "#6E4B9E",
    "Judge": "#A2466B",
    "Initialization": "#5B6770",
    "Segmentation": "#3F7F87",
    "Evaluation": "#A05A2C",
    "Tool": "#4A4E8F",
    "Embedding": "#A7B6C2",
    "Other": "#A5ABB6",
    "Trace": "#2D3A45",
    "Session": "#667784",
    "Failure": ERROR_COLOUR,
    "Attribution": "#F79767",
}

_ERROR_COLOURS = {
    ErrorType.EXTRACTION: "#3E7C59",
    ErrorType.UPDATE: "#B58B00",
    ErrorType.DELETION: "#8C2F39",
    ErrorType.RETRIEVAL: "#2B5C9E",
    ErrorType.RESPONSE: "#6E4B9E",
    ErrorType.ANNOTATION: "#848484",
    ErrorType.JUDGE: "#A2466B",
}
"""Where a kind of operation commits a kind of error, both have one colour."""

_NAMED_BY_NAME = frozenset({VariableKind.PROMPT, VariableKind.BUFFER, VariableKind.CONTEXT, VariableKind.EMBEDDING})
"""Kinds of variables whose first line says little about the whole value."""

_CAPTIONS = {
    "Trace": ("name",),
    "Session": ("name",),
    "Operation": ("name",),
    "Variable": ("preview",),
    "Failure": ("question",),
    "Attribution": ("errorType", "method"),
}

_SIZES = {"Failure": 2.0, "Answer": 1.5, "MemoryUnit": 1.25, "Attribution": 1.25, "Marker": 0.75, "Score": 0.75}


def categories() -> list[dict[str, Any]]:
    """All categories, in the order of the legend."""
    kinds = {kind.value: kind for kind in VariableKind}
    bases: dict[str, tuple[str, ...]] = dict.fromkeys(kinds, ("Variable",))
    for kind in OperationKind:
        bases[kind.value] = (*bases.get(kind.value, ()), "Operation")
    bases |= {label: (label,) for label in NODES if label not in {"Variable", "Operation"}}
    return [
        _category(number, label, base, _captions(base[0], kinds.get(label)))
        for number, (label, base) in enumerate(bases.items(), 1)
    ]


def label_properties() -> dict[str, list[dict[str, Any]]]:
    """The properties of each label, kinds and what they are kinds of included."""
    found = {category["labels"][0]: category["properties"] for category in categories()}
    found |= {label: _properties((label,)) for label in ("Variable", "Operation")}
    return {
        label: [
            {"propertyKey": one["name"], "type": label, "dataType": one["dataType"]}
            for one in properties
            if not one["exclude"]
        ]
        for label, properties in found.items()
    }


def _captions(base: str, kind: VariableKind | None) -> tuple[str, ...]:
    return ("name",) if kind in _NAMED_BY_NAME else _CAPTIONS[base]


def _category(number: int, label: str, bases: tuple[str, ...], captions: tuple[str, ...]) -> dict[str, Any]:
    return {
        "id": number,
        "name": _words(label),
        "labels": [label],
        "properties": _properties(bases),
        "createdAt": MADE_AT,
        "lastEditedAt": MADE_AT,
        "color": _COLOURS[label],
        "size": _SIZES.get(label, 1),
        "icon": "no-icon",
        "captionKeys": ["0_CATEGORY_NAME_CAPTION_KEY", *captions],
        "styleRules": _rules(label, bases),
    }


def _words(label: str) -> str:
    """``MemoryUnit`` → ``Memory unit``. Bloom has a category Other of its own."""
    return "Other kind" if label == "Other" else re.sub(r"(?<=[a-z])([A-Z])", r" \1", label).capitalize()


def _properties(bases: tuple[str, ...]) -> list[dict[str, Any]]:
    shown = {name: kind for base in bases for name, kind in of_label(base).items()}
    hidden = {name: kind for base in bases for name, kind in HIDDEN.get(base, {}).items()}
    return [{"name": name, "exclude": False, "dataType": kind} for name, kind in shown.items()] + [
        {"name": name, "exclude": True, "dataType": kind} for name, kind in hidden.items()
    ]


def _rules(label: str, bases: tuple[str, ...]) -> list[dict[str, Any]]:
    if "Operation" in bases:
        return [_rule(label, "status", "error", ERROR_COLOUR)]
    if label == "Attribution":
        return [_rule(label, "errorType", error.value, colour) for error, colour in _ERROR_COLOURS.items()]
    return []


def _rule(label: str, property_: str, value: str, colour: str) -> dict[str, Any]:
    """Colours the nodes of a category whose property has a value; the fields are those of an export."""
    return {
        "id": f"rule:{stamp('rule', label, property_, value)}",
        "type": "single",
        "size": 1,
        "minSize": 1,
        "maxSize": 2,
        "minColor": "#D5EEE2",
        "midColor": "#81CCA8",
        "maxColor": "#428C6A",
        "minPoint": "unprocessed",
        "maxPoint": "unprocessed",
        "applyColor": True,
        "applySize": False,
        "applyCaption": False,
        "captionKeys": ["0_CATEGORY_NAME_CAPTION_KEY"],
        "color": colour,
        "isTimeZoneConvertEnabled": False,
        "selectedTimeZone": "Z",
        "basedOn": f"{property_}_string",
        "valuesMapper": [],
        "existingValues": [],
        "conditionValue": value,
        "rangeValue": None,
        "condition": "equals",
    }
