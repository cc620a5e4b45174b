"""Makes stored text safe to print: it can't leave its line or send control sequences to the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schema.models import Operation, Variable

_JOINERS = frozenset("\u200c\u200d")
"""Not printable, but many scripts and emoji need these characters."""

_TELLING = 8
"""Fewer characters may be in any quote."""

SHORT_ID = 8
"""The shortest prefix that the commands take as an id."""


def one_line(text: str, width: int | None = None) -> str:
    r"""The text on one line: white space folded, control characters escaped, cut to ``width`` characters with ``…``.

    Every character that is not printable is escaped, such as ``\x1b`` and marks that reverse the direction of writing.
    """
    if width is None:
        return _escape(" ".join(text.split()))
    text = text.strip()
    head = text[: 4 * width + 4]
    folded = _escape(" ".join(head.split()))
    return folded if len(folded) <= width and len(head) == len(text) else folded[: width - 1] + "…"


def many_lines(text: str) -> str:
    """The text with its line breaks and tabs; other control characters are escaped."""
    return "\n".join("\t".join(_escape(cell) for cell in line.split("\t")) for line in text.split("\n"))


def _escape(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in _JOINERS else _escaped(character) for character in text
    )


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def middle(text: str, width: int) -> str:
    """One line of at most ``width`` characters, cut in the middle, because ids and names differ at their ends."""
    line = one_line(text)
    if len(line) <= width:
        return line
    tail = (width - 1) // 2
    return f"{line[: width - 1 - tail]}…{line[len(line) - tail :]}"


def short(id_: str) -> str:
    """The first characters of an id. The commands accept these characters wherever they are unique."""
    return id_[:SHORT_ID]


def name_of(variable: Variable, width: int = 40) -> str:
    """What to call a variable: its name with its version (from the second on); a variable without a name is quoted."""
    from attribution.text.said import said

    name = label_of(variable, width)
    return name or one_line(f"“{said(variable.preview, width - 2)}”")


def label_of(variable: Variable, width: int = 40) -> str:
    """The name that people gave a variable, with its class and version; empty if it has none."""
    from attribution.verdicts.naming import given_name

    name = given_name(variable)
    if name is None:
        return ""
    version = f"@{variable.version}" if variable.version > 1 else ""
    return middle(name if variable.class_name is None else f"{variable.class_name}:{name}", width) + version


def text_on_line(preview: str, width: int) -> str:
    """The text inside a JSON or Python value, on one line."""
    from attribution.text.said import said

    return middle(said(preview, 4 * width), width)


def operation_name(operation: Operation, width: int = 40) -> str:
    """The name of an operation, else its category or kind."""
    return middle(operation.name or operation.category or operation.kind.value, width)


def says_the_same(name: str, quote: str) -> bool:
    """Whether the name of a variable is the beginning or the end of its text, which a quote repeats."""
    parts = [part for part in name.split("…") if len(part) >= _TELLING]
    return name == quote or any(part in quote or quote in part for part in parts)


def size_of(count: int | None) -> str:
    """A number of bytes for people."""
    if count is None:
        return "unknown"
    if count < 1024:
        return f"{count} B"
    value, unit = count / 1024, "KiB"
    for larger in ("MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:.1f} {unit}"


def counted(number: int, noun: str, nouns: str | None = None) -> str:
    """``1 variable``, ``1,234 variables``."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"
