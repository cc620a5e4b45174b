"""The tools with which a model explores a trace. Each returns a JSON document of limited size."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from attribution.llm.agent.proposal import Proposal
from attribution.llm.agent.rendering import HIDDEN, listed, show_operation, show_variable
from attribution.llm.agent.search import search_values
from attribution.llm.agent.view import FailureView
from attribution.llm.transport.dialect import Schema
from attribution.llm.transport.schemas import problems_of, schema_of
from schema.kinds import VariableKind
from schema.models import Operation, Variable
from store.contract.answers import Edge

PROPOSE = "propose_verdict"

_WHOLE = 1_500
"""The number of characters of a value shown by ``look_at_variable``."""
WINDOW = 4_000
_ITEMS = 20
_ITEMS_OF_THREE = 12
"""The number of items shown of each list, if there are three lists."""


class UnknownElement(Exception):  # noqa: N818 - it is no error: the model is told, and may try again
    """A tool was asked for something that is not in the trace."""


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class LookAtOperation(_Arguments):
    """Shows an operation: what it used, what it made, what it ended."""

    operation: str = Field(description="such as op12")
    start: int = Field(default=0, ge=0, description="where to start in long lists")


class LookAtVariable(_Arguments):
    """Shows a variable: the start of its value, what made it, what used it, what it was derived from."""

    variable: str = Field(description="such as v345")


class ReadValue(_Arguments):
    """Shows a part of a long value."""

    variable: str = Field(description="such as v345")
    offset: int = Field(default=0, ge=0, description="in characters")
    length: int = Field(default=WINDOW, gt=0, description=f"in characters, at most {WINDOW}")


class Search(_Arguments):
    """Finds the variables whose values hold all of the words, in any order and case, by name."""

    words: str = Field(description="parted by spaces")
    kind: VariableKind | None = Field(default=None, description="only variables of this kind")


class Step(_Arguments):
    """Shows what a variable was derived from (back) or what was derived from it (forward)."""

    variable: str = Field(description="such as v345")
    direction: Literal["back", "forward"]
    start: int = Field(default=0, ge=0, description="where to start in long lists")


class Versions(_Arguments):
    """Shows all versions of the memory unit or buffer that a variable is one of, oldest first."""

    variable: str = Field(description="such as v345")
    start: int = Field(default=0, ge=0, description="where to start in long lists")


class Tools:
    """The tools for one failure, except for ``propose``, which the agent handles itself."""

    def __init__(self, view: FailureView) -> None:
        self._case = view

    async def call(self, name: str, arguments: dict[str, Any] | None) -> dict[str, Any]:
        """The result of a tool; a document with ``error`` for an invalid call."""
        if name not in _TOOLS:
            return {"error": f"there is no tool {name[:40]!r}: there are {', '.join(_TOOLS)} and {PROPOSE}"}
        if arguments is None:
            return {"error": "the arguments are no JSON object"}
        model, method = _TOOLS[name]
        try:
            return await method(self, model.model_validate(arguments))
        except ValidationError as error:
            return {"error": problems_of(error)}
        except UnknownElement as unknown:
            return {"error": str(unknown)}

    async def look_at_operation(self, asked: LookAtOperation) -> dict[str, Any]:
        """An operation with its inputs and outputs."""
        view, operation = self._case, self._operation(asked.operation)
        return {
            **show_operation(view, operation.id, comment=True),
            "used": listed(view.graph.used(operation.id), _ITEMS_OF_THREE, self._line, asked.start),
            "made": listed(view.graph.made(operation.id), _ITEMS_OF_THREE, self._line, asked.start),
            "ended": listed(view.ended(operation.id), _ITEMS_OF_THREE, self._line, asked.start),
        }

    async def look_at_variable(self, asked: LookAtVariable) -> dict[str, Any]:
        """A variable with its neighbours."""
        view, variable = self._case, self._variable(asked.variable)
        graph = view.graph
        text = await self._text(variable)
        document = {**show_variable(view, variable.id, preview=0), "characters": len(text), "value": text[:_WHOLE]}
        if len(text) > _WHOLE:
            document["note"] = "the value goes on: use read_value"
        if variable.operation_id is not None:
            document["made_by"] = show_operation(view, variable.operation_id)
        ended = graph.invalidated_by(variable.id)
        if ended is not None:
            document["ended_by"] = show_operation(view, ended)
        users = [view.operation_alias(one) for one in graph.users(variable.id)]
        sources = [view.variable_alias(one.source) for one in graph.parents(variable.id)]
        targets = [view.variable_alias(one.target) for one in graph.children(variable.id)]
        return document | {
            "used_by": listed(users, _ITEMS, str),
            "derived_from": listed(list(dict.fromkeys(sources)), _ITEMS, str),
            "derived": listed(list(dict.fromkeys(targets)), _ITEMS, str),
        }

    async def read_value(self, asked: ReadValue) -> dict[str, Any]:
        """A part of a value."""
        variable = self._variable(asked.variable)
        text = await self._text(variable)
        part = text[asked.offset : asked.offset + min(asked.length, WINDOW)]
        return {
            "variable": self._case.variable_alias(variable.id),
            "characters": len(text),
            "offset": asked.offset,
            "part": part,
        }

    async def search(self, asked: Search) -> dict[str, Any]:
        """Variables by the words in their values."""
        return await search_values(self._case, asked.words, asked.kind)

    async def step(self, asked: Step) -> dict[str, Any]:
        """The neighbours of a variable with the operations between."""
        graph, variable = self._case.graph, self._variable(asked.variable)
        back = asked.direction == "back"
        derivations = graph.parents(variable.id) if back else graph.children(variable.id)

        def show(derivation: Edge) -> dict[str, Any]:
            line = self._line(derivation.source if back else derivation.target)
            return line | {"by": show_operation(self._case, derivation.operation_id)}

        return listed(derivations, _ITEMS, show, asked.start)

    async def versions(self, asked: Versions) -> dict[str, Any]:
        """The versions of a memory unit."""
        graph, variable = self._case.graph, self._variable(asked.variable)

        def show(variable_id: str) -> dict[str, Any]:
            line = self._line(variable_id)
            maker, ended = graph.variables[variable_id].operation_id, graph.invalidated_by(variable_id)
            if maker is not None:
                line["made_by"] = show_operation(self._case, maker)
            if ended is not None:
                line["ended_by"] = show_operation(self._case, ended)
            return line

        return listed(graph.versions(graph.recorded(variable.id)), _ITEMS, show, asked.start)

    def _line(self, variable_id: str) -> dict[str, Any]:
        return show_variable(self._case, variable_id)

    async def _text(self, variable: Variable) -> str:
        return await self._case.graph.text(variable.id) if self._case.may_show(variable.id) else HIDDEN

    def _operation(self, alias: str) -> Operation:
        found = self._case.operation(alias)
        if found is None:
            raise UnknownElement(f"there is no operation {alias[:40]!r} in this trace")
        return found

    def _variable(self, alias: str) -> Variable:
        found = self._case.variable(alias)
        if found is None:
            raise UnknownElement(f"there is no variable {alias[:40]!r} in this trace")
        return found


_TOOLS: dict[str, tuple[type[_Arguments], Callable[[Tools, Any], Awaitable[dict[str, Any]]]]] = {
    "look_at_operation": (LookAtOperation, Tools.look_at_operation),
    "look_at_variable": (LookAtVariable, Tools.look_at_variable),
    "read_value": (ReadValue, Tools.read_value),
    "search": (Search, Tools.search),
    "step": (Step, Tools.step),
    "versions": (Versions, Tools.versions),
}
_PROPOSING = "Ends the exploration with a verdict. It is checked: if it can't stand you are told why."


@cache
def tool_descriptions(*, only_propose: bool = False) -> list[dict[str, Any]]:
    """The tools as requests describe them."""
    described: list[tuple[str, type[BaseModel], str]] = [(PROPOSE, Proposal, _PROPOSING)]
    if not only_propose:
        described = [*((name, model, _said(model)) for name, (model, _) in _TOOLS.items()), *described]
    return [
        {
            "type": "function",
            "function": {"name": name, "description": said, "parameters": schema_of(model).schema},
        }
        for name, model, said in described
    ]


@cache
def step_schema(*, only_propose: bool = False) -> Schema:
    """One schema for a call of any tool, for servers or models without calls of tools."""
    tools = [one["function"] for one in tool_descriptions(only_propose=only_propose)]
    arguments = [one["parameters"] for one in tools]
    return Schema(
        "step",
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "enum": [one["name"] for one in tools]},
                "arguments": {"anyOf": arguments},
            },
            "required": ["name", "arguments"],
            "additionalProperties": False,
        },
    )


def tool_names() -> list[str]:
    """The names of all tools."""
    return [*_TOOLS, PROPOSE]


def _said(model: type[BaseModel]) -> str:
    return (model.__doc__ or "").strip()
