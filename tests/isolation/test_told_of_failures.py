"""What is told of a failure, and why, is made of the asker's own project alone."""

from __future__ import annotations

import json
import re

import pytest

from tests.graphql.world import World
from tests.isolation.asking import asked_of

pytestmark = pytest.mark.one_engine

_WHY_NOT = """whyNot { piece messageId operationId operation { id }
  held { variableId quote variable { id preview } } returned { variableId text variable { id preview } }
  extractions { operationId uncovered { variableId text variable { id } } facts { variableId text variable { id } } }
  changes { operationId given { variableId text variable { id } } added { variableId text variable { id } }
    candidates { variableId newVariableId old new variable { id } } }
  context { variableId quote before after variable { id } } }"""


_SPINE = """spine(maxBoxes: 8) { verdictId verdict { id reason } pieces { text operationId }
  boxes { label text variableIds operationIds variables(first: 5) { nodes { id preview } } operations { id } }
  edges { operations { name } } }"""


@pytest.mark.parametrize(("name", "asked"), [("whyNot", _WHY_NOT), ("spine", _SPINE)])
def test_what_is_told_of_a_failure_is_of_ones_own_project(name: str, asked: str, world: World, other: World) -> None:
    """Both projects hold the same messages and units: what is told must be made of the asker's own alone."""
    failure, place = json.dumps(world.ids["failure"]), json.dumps(other.project)
    by_id = f"{{ node(id: {failure}) {{ ... on Failure {{ {asked} }} }} }}"
    by_reference = f"{{ project(name: {place}) {{ failure(reference: {failure}) {{ {asked} }} }} }}"
    for document in (by_id, by_reference):
        assert name not in asked_of(world, other, document)
    assert name in world.ask(by_id, role="admin")["node"]
    everything = "{ project(name: %s) { traces { nodes { variables(first: 500) { nodes { id } } } } } }"
    own_ids = {one.project: _ids(asked_of(one, one, everything % json.dumps(one.project))) for one in (world, other)}
    for one, another in ((world, other), (other, world)):
        failures = f"failures(first: 5) {{ nodes {{ {asked} }} }}"
        document = f"{{ project(name: {json.dumps(one.project)}) {{ {failures} }} }}"
        told = _ids(json.dumps(one.ask(document, role="admin")))
        assert told & own_ids[one.project]
        assert not told & own_ids[another.project]


def _ids(answer: str) -> set[str]:
    return set(re.findall(r'"([0-9a-f]{32})"', answer))
