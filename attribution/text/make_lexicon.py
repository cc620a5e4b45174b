"""Makes ``lexicon.zst`` from WordNet's files: ``python -m attribution.text.make_lexicon FOLDER``.

FOLDER is the ``dict`` folder of WordNet 3.0: data.noun, data.verb, data.adj, data.adv.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

import zstandard

from attribution.text.tokens import is_stop, stem

_PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
_NEIGHBOURS = frozenset(["&", "^", "$", "+", "=", "\\", "<", "@", "*"])


def main(folder: Path) -> None:
    """Write the lexicon beside this module."""
    synsets: dict[str, tuple[list[str], list[tuple[str, str]]]] = {}
    for part, name in _PARTS.items():
        for line in (folder / f"data.{name}").read_text(encoding="latin-1").splitlines():
            if not line.startswith(" "):
                key, words, pointers = _synset(part, line)
                synsets[key] = (words, pointers)
    numbers = {key: format(place, "x") for place, key in enumerate(synsets)}
    own: dict[str, set[str]] = defaultdict(set)
    near: dict[str, set[str]] = defaultdict(set)
    heads: dict[str, set[str]] = defaultdict(set)
    for key, (words, pointers) in synsets.items():
        for word in {stem(word) for word in words if word.isalpha() and len(word) > 2 and not is_stop(word)}:
            own[word].add(numbers[key])
            near[word].update(numbers[target] for symbol, target in pointers if symbol in _NEIGHBOURS)
            heads[word].update(numbers[target] for symbol, target in pointers if symbol == "&")
    lines = (
        "\t".join(
            [word, " ".join(sorted(own[word])), " ".join(sorted(near[word] - own[word])), " ".join(sorted(heads[word]))]
        )
        for word in sorted(own)
    )
    packed = zstandard.ZstdCompressor(level=19).compress("\n".join(lines).encode())
    Path(__file__).with_name("lexicon.zst").write_bytes(packed)


def _synset(part: str, line: str) -> tuple[str, list[str], list[tuple[str, str]]]:
    """Key, words, and pointers (symbol, key) of a line of a data file (format: wndb(5WN))."""
    fields = line.partition(" | ")[0].split()
    count = int(fields[3], 16)
    words = [fields[4 + 2 * place].partition("(")[0].lower() for place in range(count)]
    first = 4 + 2 * count
    pointers = []
    for place in range(int(fields[first])):
        symbol, offset, target, _ = fields[first + 1 + 4 * place : first + 5 + 4 * place]
        pointers.append((symbol, ("a" if target == "s" else target) + offset))
    return part + fields[0], words, pointers


if __name__ == "__main__":
    main(Path(sys.argv[1]))
