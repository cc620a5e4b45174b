"""What is done to one call of a replay in place of what the program does."""

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
        operation: which calls: one, as ``Replayed.calls`` names it (``module:function#digest.turn``), or all of
            ``module:function``.
        output: what it gives back; its body does not run. JSON values become what its return annotation says.
        inputs: arguments by name that it gets instead.
        prompt: the text that its argument ``prompt`` gets instead.
        skip: its body does not run, and it gives back nothing: None, or the empty value of its return annotation.
        add: a text that is put into what it gives back, or into what it changes in place. Its body runs.
        before: ``add`` comes before the line of the output that has this text, if one has.
        body: ``module:function`` that runs in place of its body, with the body and the arguments.

    Raises:
        ValueError: not exactly one change is said.
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
