"""A change of calls in a replay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from pydantic_core import from_json, to_json


class _Unset(Enum):
    UNSET = "unset"


UNSET: Final = _Unset.UNSET


@dataclass(frozen=True, slots=True)
class Do:
    """One change of a replay.

    Args:
        operation: the changed calls: one call, as ``Replayed.calls`` names it (``module:function#digest.turn``), or all
            calls of ``module:function``.
        output: the result; the body does not run. JSON values are converted to the type of the return annotation.
        inputs: new arguments, by name.
        prompt: a new text for the argument ``prompt``.
        skip: the body does not run, and the result is None, or the empty value of the return annotation.
        add: a text to add to the result, or to the value that the call changes in place. The body runs.
        before: ``add`` goes before the line of the result that contains this text, if any.
        body: ``module:function`` to run in place of the body; its arguments are the body and the call's arguments.

    Raises:
        ValueError: none or several changes are given.
    """

    operation: str
    output: Any = UNSET
    inputs: Mapping[str, Any] | None = None
    prompt: str | None = None
    skip: bool = False
    add: str | None = None
    before: str | None = None
    body: str | None = None

    def __post_init__(self) -> None:
        said = [self.output is not UNSET, self.skip]
        said += [one is not None for one in (self.inputs, self.prompt, self.add, self.body)]
        if sum(said) != 1:
            raise ValueError(
                f"what is done to {self.operation!r} must be one of output, inputs, prompt, skip, add and body, "
                f"not {sum(said)} of them"
            )

    def as_json(self) -> dict[str, Any]:
        """The change as JSON values."""
        said = {
            "operation": self.operation,
            "output": self.output,
            "inputs": self.inputs,
            "prompt": self.prompt,
            "skip": self.skip or None,
            "add": self.add,
            "before": self.before,
            "body": self.body,
        }
        kept = {name: value for name, value in said.items() if value is not UNSET and (value is not None)}
        if self.output is None:
            kept["output"] = None
        found: dict[str, Any] = from_json(to_json(kept))
        return found
