"""Objects that are made fast are objects like all others."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from schema.constructors import constructor
from schema.models import Attribution, Derivation, Failure, Operation, Session, Trace, Variable

MODELS = [Trace, Session, Operation, Variable, Derivation, Failure, Attribution]


@pytest.mark.parametrize("model", MODELS)
def test_made_fast_is_made_alike(model: type[Variable]) -> None:
    values: list[Any] = list(range(len(model.__slots__)))
    fast, plain = constructor(model)(*values), model(*values)
    assert type(fast) is model
    assert (fast, hash(fast), repr(fast)) == (plain, hash(plain), repr(plain))
    assert copy.deepcopy(fast) == pickle.loads(pickle.dumps(fast)) == replace(plain)
    with pytest.raises(FrozenInstanceError):
        fast.id = "another"  # type: ignore[misc]
    with pytest.raises(TypeError):
        constructor(model)()


def test_defaults_are_those_of_the_model() -> None:
    trace = constructor(Trace)("id", "project", "external", None, "test", None)
    assert trace == Trace("id", "project", "external", None, "test", None)
