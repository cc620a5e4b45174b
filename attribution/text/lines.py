"""Differences of two texts line by line, in a time bounded by their lengths.

The common lines at both ends are cut off. rapidfuzz finds a longest common subsequence of the rest bit-parallel: the
work is the product of the lengths divided by 64, for any content. ``difflib`` takes cubic time for some content.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

MAX_LINES = 10_000
"""The maximal number of lines of each text between the common ends."""

_AROUND = 3

_Opcode = tuple[str, int, int, int, int]


class TooDifferentError(Exception):
    """The texts differ in more lines than are compared."""


def unified(old: str, new: str, old_name: str, new_name: str) -> tuple[list[str], int, int]:
    """The differences in the unified format, the number of added lines, and the number of removed lines.

    Raises:
        TooDifferentError: a text has more than ``MAX_LINES`` lines between the common ends.
    """
    before, after = old.splitlines(), new.splitlines()
    lines: list[str] = []
    added = removed = 0
    for group in _Matcher(_opcodes(before, after)).get_grouped_opcodes(_AROUND):
        lines = lines or [f"--- {old_name}", f"+++ {new_name}"]
        lines.append(f"@@ -{_range(group[0][1], group[-1][2])} +{_range(group[0][3], group[-1][4])} @@")
        for tag, start, end, new_start, new_end in group:
            if tag == "equal":
                lines += [f" {line}" for line in before[start:end]]
                continue
            lines += [f"-{line}" for line in before[start:end]]
            lines += [f"+{line}" for line in after[new_start:new_end]]
            removed += end - start
            added += new_end - new_start
    return lines, added, removed


def _range(start: int, end: int) -> str:
    length = end - start
    if length == 1:
        return f"{start + 1}"
    return f"{start + 1 if length else start},{length}"


class _Matcher(SequenceMatcher[str]):
    """Groups given opcodes with context lines as ``difflib`` does, without comparing anything."""

    def __init__(self, opcodes: list[_Opcode]) -> None:
        super().__init__(None, "", "")
        self._found = opcodes

    def get_opcodes(self) -> list[_Opcode]:  # type: ignore[override]
        """The given opcodes."""
        return self._found


def _opcodes(before: Sequence[str], after: Sequence[str]) -> list[_Opcode]:
    """The edits between the two lists of lines, in the form of ``difflib.SequenceMatcher.get_opcodes``."""
    shorter = min(len(before), len(after))
    head = next((place for place in range(shorter) if before[place] != after[place]), shorter)
    tail = next((place for place in range(shorter - head) if before[-1 - place] != after[-1 - place]), shorter - head)
    if max(len(before), len(after)) - head - tail > MAX_LINES:
        raise TooDifferentError
    # Imported at the first comparison, in the thread that compares: a server starts faster without it.
    from rapidfuzz.distance import LCSseq

    found: list[_Opcode] = []
    i = j = 0
    for same in LCSseq.opcodes(before, after).as_matching_blocks():
        if same.a > i or same.b > j:
            tag = "replace" if same.a > i and same.b > j else "delete" if same.a > i else "insert"
            found.append((tag, i, same.a, j, same.b))
        i, j = same.a + same.size, same.b + same.size
        if same.size:
            found.append(("equal", same.a, i, same.b, j))
    return found
