"""Which forms of replies work: calls of tools, JSON by a schema, a JSON object, and JSON that is asked for in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, ValidationError

from attribution.llm.transport.dialect import Dialect, Format, Schema
from attribution.llm.transport.errors import LlmError, Problem
from attribution.llm.transport.reply import Reply
from attribution.llm.transport.reply_faults import cut_off, told
from attribution.llm.transport.schemas import Rejected, json_part, problems_of, schema_of
from attribution.llm.transport.text_calls import calls_in, without_thoughts
from attribution.llm.trial.asking import Asking, Timed

TOOLS = "tools"

_TOOL = "look_up"
_TOOLS: tuple[dict[str, Any], ...] = (
    {
        "type": "function",
        "function": {
            "name": _TOOL,
            "description": "Looks up words in a dictionary.",
            "parameters": {
                "type": "object",
                "properties": {"words": {"type": "string"}},
                "required": ["words"],
                "additionalProperties": False,
            },
        },
    },
)
_ASK_TOOL = f"Look up the words 'grey parrot': call the tool {_TOOL}."
_ASK_JSON = (
    "A diary says: 'It was 21 degrees in Leeds today.' Give the city and the degrees as a JSON object with the keys "
    "city and degrees."
)
_SHOWN = 80


class _Weather(BaseModel):
    city: str
    degrees: int


@dataclass(frozen=True, slots=True)
class FormResult:
    """Whether one form of replies works.

    Attributes:
        form: ``tools``, ``json_schema``, ``json_object`` or ``text``.
        how: how the model replied, or why the form does not work.
        timed: the reply; None if the server gave none.
    """

    form: str
    works: bool
    how: str
    timed: Timed | None = None


async def try_forms(asking: Asking, plain: Dialect) -> list[FormResult]:
    """The result of each form.

    Args:
        asking: the model.
        plain: a dialect that the server understands.

    Raises:
        LlmError: the server gives no answer at all; another form would not help.
        BudgetError: the budget of a run is spent.
    """
    found = [await _try(asking, TOOLS, plain, _ASK_TOOL, _call_problem, tools=_TOOLS)]
    for one in Format:
        dialect, schema = replace(plain, format=one), schema_of(_Weather)
        found.append(await _try(asking, one, dialect, _ASK_JSON, _json_problem, schema=schema))
    return found


async def _try(
    asking: Asking,
    form: str,
    dialect: Dialect,
    text: str,
    problem_of: Callable[[Reply, int], str | None],
    tools: Sequence[dict[str, Any]] = (),
    schema: Schema | None = None,
) -> FormResult:
    try:
        timed = await asking.ask(dialect, text, tools, schema)
    except LlmError as error:
        if error.kind is not Problem.UNSUPPORTED:
            raise
        return FormResult(form, False, f"refused: {error}")
    problem = problem_of(timed.reply, asking.reply_tokens)
    how = "the model wrote its call as text, which is understood" if tools and not timed.reply.calls else "as asked"
    return FormResult(form, problem is None, problem or how, timed)


def general_problem(reply: Reply, reply_tokens: int) -> str | None:
    """What is wrong with a reply of any form; None if nothing is."""
    if reply.refusal:
        return f"the model refused to answer: {reply.refusal[:_SHOWN]}"
    if reply.cut:
        return cut_off(reply.content, reply_tokens)
    try:
        told(reply.content)
    except Rejected as rejection:
        return str(rejection)
    return None


def _call_problem(reply: Reply, reply_tokens: int) -> str | None:
    calls = reply.calls or calls_in(reply.content, [_TOOL])
    if any(one.name == _TOOL and one.arguments for one in calls):
        return None
    if calls:
        return f"the model called {calls[0].name[:_SHOWN]!r} without the arguments that were asked for"
    return general_problem(reply, reply_tokens) or _with_words("the model called no tool", reply)


def _json_problem(reply: Reply, reply_tokens: int) -> str | None:
    problem = general_problem(reply, reply_tokens)
    if problem is not None:
        return problem
    try:
        _Weather.model_validate_json(json_part(told(reply.content)))
    except ValidationError as error:
        return _with_words(f"the reply has another form ({'; '.join(problems_of(error))})", reply)
    return None


def _with_words(problem: str, reply: Reply) -> str:
    said = " ".join(without_thoughts(reply.content).split())
    return f"{problem}; its reply begins {said[:_SHOWN]!r}" if said else problem
