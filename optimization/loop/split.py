"""Divides conversations: training for the search, validation for the choice, and unseen ones for the gate."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from optimization.gate.statistics import conversations_needed
from schema.errors import InputError

_LEAST = 1


@dataclass(frozen=True, slots=True)
class Split:
    """The users of the training, validation and gate conversations."""

    train: tuple[str, ...]
    validation: tuple[str, ...]
    gate: tuple[str, ...]


def split(users: Sequence[str], seed: int = 0, gate_share: float = 0.5) -> Split:
    """Divide users by a hash of their names, so that the result is the same each time.

    Args:
        users: all users of a data set.
        seed: a different seed gives a different division.
        gate_share: share of the users for the gate; training and validation get half of the rest each.

    Raises:
        InputError: there are too few users for three parts.
    """
    ordered = sorted(users, key=lambda user: hashlib.sha256(f"{seed}:{user}".encode()).digest())
    gate = round(len(ordered) * gate_share)
    train = (len(ordered) - gate + 1) // 2
    found = Split(
        tuple(ordered[:train]), tuple(ordered[train : len(ordered) - gate]), tuple(ordered[len(ordered) - gate :])
    )
    if min(map(len, (found.train, found.validation, found.gate))) < _LEAST:
        raise InputError(
            "data set",
            "",
            f"has {len(ordered)} conversations, too few to divide: search, choice and gate need some each, the gate at "
            f"least {conversations_needed(0.05)}",
        )
    return found
