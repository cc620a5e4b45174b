"""A call inside a package, which its instrument records: in a replay it is known, and changed, by its texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memtrace.replay.calls import Call
from memtrace.replay.do import UNSET, Do

Adding = Callable[[str, str], str | None]
"""Puts a text into a reply; None where there is no place for it."""


def appended(reply: str, text: str) -> str | None:
    """The reply with the text in a line of its own; None where its form is that of data, which that would break."""
    return None if reply.lstrip().startswith(("{", "[")) else f"{reply}\n{text}"


class PackageCall:
    """One call of a replay, and what is done to it.

    Args:
        call: what it is known by.
        do: what is done.
        problem: is told why something can't be done.
    """

    def __init__(self, call: Call, do: Sequence[Do], problem: Callable[[str], None]) -> None:
        self._function = call.function
        self._do = do
        self._problem = problem
        self.noted = {"call": str(call)}

    def given(self, texts: Mapping[str, str]) -> dict[str, str]:
        """The texts that it is given, by the role that each has in the operation, with the changes."""
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
        """The texts that a search gives back, with the changes."""
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
        """Say why a change can't be made."""
        self._problem(f"{self._function}: {reason}")

    def _text(self, value: Any, otherwise: str) -> str:
        if isinstance(value, str):
            return value
        self.refuse(f"gives back texts, not a {type(value).__name__}")
        return otherwise

    def _no_body(self, do: Do) -> None:
        if do.body is not None:
            self.refuse("no body can run in place of what a package does")
