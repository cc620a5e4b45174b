"""Which gold answers a verdict was made on: they may be changed later, and then the verdict is about other ones."""

from __future__ import annotations

from typing import Any

import msgspec

from schema.ids import hash_value
from schema.models import Attribution, Failure

_GOLD = "goldAnswersHash"
"""The attribute of a verdict that says it."""


def gold_mark(failure: Failure) -> dict[str, str]:
    """What a verdict on a failure keeps among its attributes, so that a change of the gold answers is noticed."""
    return {_GOLD: hash_value(msgspec.json.encode(failure.gold_answers))}


def gold_mark_of(verdict: Attribution) -> dict[str, Any]:
    """What a stored verdict says of the gold answers that it was made on; empty where it says nothing."""
    kept = msgspec.json.decode(verdict.attributes)
    return {_GOLD: kept[_GOLD]} if _GOLD in kept else {}


def on_earlier_gold(verdict: Attribution, failure: Failure) -> bool:
    """Whether the gold answers of a failure were changed since a verdict on it was given.

    False for a verdict that doesn't say which they were: one that did without them, or that came from a file.
    """
    mark = gold_mark_of(verdict)
    return bool(mark) and mark != gold_mark(failure)
