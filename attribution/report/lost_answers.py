"""Which prompt lost most answers.

A prompt lost an answer if the verdict that counts for the failure (``attribution.verdicts.stored.word_on``) blames an
operation that used the prompt; an operation without a prompt may have made one. A failure counts once for each prompt.
Prompts with the same name count as one, and a prompt that is made for one call is named by its class.

Other figures count other things: the levers of a report count the same way, but over the verdicts of one source;
``attribution.blame.rank`` also counts the operations that lost a piece without being decisive, weighs verdicts by their
confidence, and sets off right answers; the view ``lost`` of a SQLite file counts lost pieces of all verdicts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from attribution.blame.rank import chosen_verdicts
from attribution.report.changes import levers_of
from attribution.report.gather import prompt_name
from schema.kinds import VariableKind
from schema.models import Variable
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.shared.paging import every, in_trace


@dataclass(frozen=True, slots=True)
class LosingPrompt:
    """A prompt with the number of wrong answers that it lost.

    Attributes:
        name: the prompt's name; the class of prompts that are made for one call.
        variable_id: the first recorded variable of this name.
        recorded: number of recorded variables of this name.
        failures: number of failures whose decisive operation used the prompt.
        error_types: these failures by error type.
    """

    name: str
    variable_id: str
    recorded: int
    failures: int
    error_types: Mapping[str, int]


async def prompts_that_lost(store: GraphStore, trace_id: str | None = None) -> list[LosingPrompt]:
    """All prompts of one trace or of the project, the prompt that lost most answers first."""
    levers = await levers_of(store, await chosen_verdicts(store, trace_id))
    blamed = {lever.share.key.removeprefix("prompt:"): lever for lever in levers if lever.kind == "prompt"}
    first: dict[str, str] = {}
    recorded: dict[str, int] = {}
    ids = [trace_id] if trace_id else [one.id async for one in every(lambda after: store.traces(after=after))]
    for id_ in ids:
        async for one in in_trace(store, Label.VARIABLE, id_, [VariableKind.PROMPT.value]):
            assert isinstance(one, Variable)
            name = prompt_name(one)
            first.setdefault(name, one.id)
            recorded[name] = recorded.get(name, 0) + 1
    found = [
        LosingPrompt(
            name,
            variable_id,
            recorded[name],
            blamed[name].share.count if name in blamed else 0,
            blamed[name].error_types if name in blamed else {},
        )
        for name, variable_id in first.items()
    ]
    return sorted(found, key=lambda one: (-one.failures, one.name))
