"""Small memory systems that each lose a piece in one way, written by hand."""

from __future__ import annotations

from dataclasses import replace

from schema.kinds import OperationKind, VariableKind
from schema.models import Failure, Usage, Variable
from tests.attribution.flow.stories import Story

SAID = "We adopted a grey parrot called Humboldt last spring. My sister plays the cello in Lisbon."
OTHER = "Work was busy, the harbour crane broke down twice this week."
MORE = "My neighbour bakes rye bread on Sundays and brings some over."
PIECE = "We adopted a grey parrot called Humboldt last spring."
CELLO = "My sister plays the cello in Lisbon."
QUESTION, GOLD = "What is the parrot of the family called?", "Humboldt"
KNOWN = "The family adopted a grey parrot called Humboldt."
BIRD = "The family adopted a grey bird."
NOTHING = "I don't know."


def story(project: str, name: str) -> Story:
    """Three messages."""
    return Story.of(project, SAID, OTHER, MORE, name=name)


def rate(told: Story, *rated: tuple[Variable, bool, float | None]) -> None:
    """Say how the search rated units, best first: each with whether it was returned, and its score."""
    search = next(one for one in told.trace.operations if one.external_id == "search")
    units = {unit.id for unit, _, _ in rated}
    told.trace.usages = [
        one for one in told.trace.usages if one.operation_id != search.id or one.variable_id not in units
    ]
    told.trace.usages += [
        Usage(search.id, unit.id, "returned" if returned else "considered", place, score)
        for place, (unit, returned, score) in enumerate(rated)
    ]


def retrieval(project: str) -> tuple[Story, Failure]:
    """A search rates the unit third, and returns the first two."""
    told = story(project, "retrieval")
    parrot = told.store(0, KNOWN, key="parrot")
    bread, crane = told.store(2, MORE, key="bread"), told.store(1, OTHER, key="crane")
    failure = told.ask(QUESTION, GOLD, NOTHING, [bread, crane])
    rate(told, (crane, True, 0.9), (bread, True, 0.5), (parrot, False, 0.25))
    return told, failure


def extraction(project: str) -> tuple[Story, Failure]:
    """The name is left out, and the sister."""
    told = story(project, "extraction")
    return told, told.ask(QUESTION, GOLD, NOTHING, [told.store(0, BIRD)])


def update(project: str) -> tuple[Story, Failure]:
    """An update rewrites a unit, ends a second, adds a third, and leaves a unit alone that is only in its prompt."""
    told = story(project, "update")
    parrot, bread = told.store(0, KNOWN, key="parrot"), told.store(2, MORE, key="bread")
    told.store(1, OTHER, key="crane")
    trace = told.trace
    operation = trace.operation("tidy", kind=OperationKind.UPDATE, name="tidy up")
    trace.use(operation, parrot, bread)
    shown = f"Memories: ['{KNOWN}', '{MORE}', '{OTHER}']. Which of these do you rewrite?"
    prompt = trace.variable("prompt", shown, by=operation, kind=VariableKind.PROMPT)
    trace.derive(prompt, parrot, bread, by=operation)
    more = {"name": "parrot", "version": 2, "revision_of": parrot.id, "kind": VariableKind.MEMORY_UNIT}
    after = trace.variable("parrot-2", "The family has a pet.", by=operation, **more)
    trace.derive(after, parrot, by=operation)
    trace.invalidate(operation, bread)
    added = trace.variable("weekend-1", "Weekends are calm here.", by=operation, kind=VariableKind.MEMORY_UNIT)
    trace.derive(added, bread, by=operation)
    return told, told.ask(QUESTION, GOLD, NOTHING, [after])


def deletion(project: str) -> tuple[Story, Failure]:
    """The unit is deleted."""
    told = story(project, "deletion")
    told.delete(told.store(0, KNOWN, key="parrot"))
    return told, told.ask(QUESTION, GOLD, NOTHING, [told.store(1, OTHER, key="crane")])


def response(project: str) -> tuple[Story, Failure]:
    """The answer says a name that differs from the name in its context."""
    told = story(project, "response")
    units = [told.store(2, MORE, key="bread"), told.store(0, KNOWN, key="parrot"), told.store(1, OTHER, key="crane")]
    return told, told.ask(QUESTION, GOLD, "It is called Darwin.", units)


def several(project: str) -> tuple[Story, Failure]:
    """Of two pieces one was never stored, and the other was read."""
    told = story(project, "several")
    told.evidence.append(told.trace.variable("message-3", "Our cat is called Bellini.", kind=VariableKind.MESSAGE))
    told.store(0, BIRD, key="bird")
    cat = told.store(3, "Their cat is called Bellini.", key="cat")
    failure = told.ask("What are the pets of the family called?", "Humboldt, Bellini", "No idea.", [cat])
    both = replace(failure, evidence_ids=(told.evidence[0].id, told.evidence[3].id))
    told.trace.failures[:] = [both]
    return told, both
