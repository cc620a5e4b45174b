"""Marks a verdict with the gold answers that it used, because gold answers may change later."""

from __future__ import annotations

from typing import Any

import msgspec

from schema.damage import reading_stored
from schema.ids import hash_value
from schema.models import Attribution, Failure

_GOLD = "goldAnswersHash"
"""The verdict's attribute that holds the mark."""


def gold_mark(failure: Failure) -> dict[str, str]:
    """Attributes for a verdict on a failure that identify the current gold answers."""
    return {_GOLD: hash_value(msgspec.json.encode(failure.gold_answers))}


def gold_mark_of(verdict: Attribution) -> dict[str, Any]:
    """The mark in a stored verdict's attributes; empty without a mark."""
    with reading_stored(f"verdict {verdict.id}"):
        kept = msgspec.json.decode(verdict.attributes, type=dict[str, Any])
        return {_GOLD: kept[_GOLD]} if _GOLD in kept else {}


def on_earlier_gold(verdict: Attribution, failure: Failure) -> bool:
    """Whether the gold answers of a failure changed after a verdict was given.

    False for a verdict without a mark: one made without gold answers, or one from a file.
    """
    mark = gold_mark_of(verdict)
    return bool(mark) and mark != gold_mark(failure)
