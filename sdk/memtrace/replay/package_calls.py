"""A call inside a package, such as a model's: a replay identifies and changes the call by its texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memtrace.replay.calls import Call
from memtrace.replay.do import UNSET, Do

Adding = Callable[[str, str], str | None]
"""Adds the second text to a reply; returns None if the reply has no place for a text."""


def appended(reply: str, text: str) -> str | None:
    """The reply with the text as a new last line; None for a reply of JSON, which a line would break."""
    return None if reply.lstrip().startswith(("{", "[")) else f"{reply}\n{text}"


class PackageCall:
    """One call of a replay, with its changes.

    Args:
        call: the identity of the call.
        do: the changes.
        problem: called with the reason why a change is impossible.
    """

    def __init__(self, call: Call, do: Sequence[Do], problem: Callable[[str], None]) -> None:
        self._function = call.function
        self._do = do
        self._problem = problem
        self.noted = {"call": str(call)}

    def given(self, texts: Mapping[str, str]) -> dict[str, str]:
        """The texts of the call, by role in the operation, with the changes."""
        changed = dict(texts)
        for do in self._do:
            inputs = {"prompt": do.prompt} if do.prompt is not None else do.inputs or {}
            for role, text in inputs.items():
                if role not in texts or not isinstance(text, str):
                    known = ", ".join(texts)
                    self.refuse(f"{role!r} can't be changed there, only the texts of {known or 'none'}")
                else:
                    changed[role] = text
        return changed

    def reply(self, text: str, adding: Adding = appended) -> str:
        """The reply of a model, with the changes."""
        for do in self._do:
            if do.add is not None:
                found = adding(text, do.add)
                if found is None:
                    self.refuse(f"a sentence can't be added to a reply of this form: {text[:80]!r}")
                else:
                    text = found
            elif do.skip or do.output is not UNSET:
                text = "" if do.skip else self._text(do.output, text)
            self._no_body(do)
        return text

    def found(self, texts: Sequence[str]) -> list[str]:
        """The texts that a search returns, with the changes."""
        found = list(texts)
        for do in self._do:
            if do.add is not None:
                found.append(do.add)
            elif do.skip:
                found = []
            elif do.output is not UNSET:
                said = do.output if isinstance(do.output, list) else [do.output]
                found = [self._text(one, "") for one in said]
            self._no_body(do)
        return found

    def refuse(self, reason: str) -> None:
        """Report why a change is impossible."""
        self._problem(f"{self._function}: {reason}")

    def _text(self, value: Any, otherwise: str) -> str:
        if isinstance(value, str):
            return value
        self.refuse(f"gives back texts, not a {type(value).__name__}")
        return otherwise

    def _no_body(self, do: Do) -> None:
        if do.body is not None:
            self.refuse("no body can run in place of what a package does")
