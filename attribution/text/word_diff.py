"""Two texts compared word by word, for people."""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher

Parts = list[tuple[str, str]]
"""Parts of a text, each with its state: same, gone or new."""

_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
_MOST_TOKENS = 4000
"""The most words of two texts that are compared word by word."""
_MOST_PAIRS = 100_000
"""The most pairs of equal words in two texts that are compared: the comparison looks at each of them, some often."""


def word_changes(old: str, new: str) -> tuple[Parts, Parts]:
    """The parts of the old text (same, gone) and of the new text (same, new).

    Texts that are too long to be compared word by word are each one part.
    """
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    counts = Counter(before)
    pairs = sum(counts[word] for word in after)
    if len(before) + len(after) > _MOST_TOKENS or pairs > _MOST_PAIRS or len(before) * len(after) > 10 * _MOST_PAIRS:
        return [(old, "gone")], [(new, "new")]
    left: Parts = []
    right: Parts = []
    for what, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        same = what == "equal"
        if b > a:
            left.append(("".join(before[a:b]), "same" if same else "gone"))
        if d > c:
            right.append(("".join(after[c:d]), "same" if same else "new"))
    return left, right


def merged_changes(old: str, new: str) -> Parts:
    """The new text, with the words of the old text that are gone where they stood."""
    left, right = word_changes(old, new)
    parts: Parts = []
    while left or right:
        if left and left[0][1] == "gone":
            parts.append(left.pop(0))
        elif right and right[0][1] == "new":
            parts.append(right.pop(0))
        else:
            parts.append(right.pop(0))
            left.pop(0)
    return parts


def difference(unified: str) -> list[tuple[str, Parts]]:
    """A unified diff as rows: the kind (same, gone, new, gap) and the parts of the line, each with its state.

    A removed line and the line that replaces it are compared word by word.
    """
    rows: list[tuple[str, Parts]] = []
    gone: list[str] = []
    new: list[str] = []

    def flush() -> None:
        pairs = [word_changes(old, young) for old, young in zip(gone, new, strict=False)]
        rows.extend(("gone", old) for old, _ in pairs)
        rows.extend(("gone", [(line, "gone")]) for line in gone[len(pairs) :])
        rows.extend(("new", young) for _, young in pairs)
        rows.extend(("new", [(line, "new")]) for line in new[len(pairs) :])
        gone.clear()
        new.clear()

    for line in unified.split("\n"):
        if line.startswith(("---", "+++")) and not rows and not gone and not new:
            continue
        if line.startswith("-"):
            gone.append(line[1:])
        elif line.startswith("+"):
            new.append(line[1:])
        elif line.startswith("@@"):
            flush()
            rows.append(("gap", []))
        elif not line.startswith("\\"):
            flush()
            rows.append(("same", [(line[1:], "same")]))
    flush()
    return rows[1:] if rows and rows[0][0] == "gap" else rows
