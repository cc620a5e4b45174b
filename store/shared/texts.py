"""Texts of queries: files in a folder ``queries`` beside the code that runs them, never built from input.

A file is one text, or several texts on one subject, each below a line ``-- name: NAME``. Texts that differ only in the
names of tables or columns are one template with placeholders such as ``{{table}}``, which are filled from a closed
list. A fragment is a text that several texts include, in a file of the folder ``fragments``: ``{{wanted.verdict a}}``
stands for the text ``verdict`` of the file ``wanted``, with ``a`` for ``{{it}}``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from importlib.resources import files

Fillings = Mapping[StrEnum, Mapping[str, str]]
"""The closed list: the texts of the placeholders, for each subject of a template (a label, a table, ...)."""

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_FRAGMENT = re.compile(r"\{\{(\w+)\.(\w+)(?: (\w+))?\}\}")
_PART = re.compile(r"^-- name: (\w+)\n(.*?)(?=^-- name: |\Z)", re.MULTILINE | re.DOTALL)


def texts_of(package: str, suffix: str, fillings: Fillings) -> Callable[..., str]:
    """A function that returns a text of a folder, from the name (``file`` or ``file.name``) and a template's subject.

    The function raises ``ValueError`` for an unknown name, and for a placeholder that the closed list can't fill.

    Args:
        package: the folder, such as ``store.sqlite.queries``.
        suffix: of the files in the folder, such as ``.sql``.
        fillings: the closed list.
    """

    @cache
    def text(name: str, about: StrEnum | None = None) -> str:
        words: Mapping[str, str] = {}
        if about is not None:
            if about not in fillings:
                raise ValueError(f"no text is about {about!r}")
            words = fillings[about]

        def word(found: re.Match[str]) -> str:
            if found[1] not in words:
                raise ValueError(f"the text {name} can't be about {about!r}: that has no {found[1]}")
            return words[found[1]]

        file, _, part = name.partition(".")
        return _PLACEHOLDER.sub(word, _FRAGMENT.sub(fragment, text_at(file + suffix, part)))

    def fragment(found: re.Match[str]) -> str:
        file, part, it = found.groups()
        said = text_at(f"fragments/{file}{suffix}", part)
        return _FRAGMENT.sub(fragment, said if it is None else said.replace("{{it}}", it))

    def text_at(path: str, part: str) -> str:
        place = files(package).joinpath(path)
        parts = texts_in(place.read_text("utf-8")) if place.is_file() else {}
        if part not in parts:
            raise ValueError(f"there is no text {path.removesuffix(suffix)}{part and '.'}{part}")
        return parts[part]

    return text


def texts_in(content: str) -> dict[str, str]:
    """The texts of a file by name; the name is empty if the file is one text."""
    return {name: text.strip() for name, text in _PART.findall(content)} or {"": content}


def placeholders(text: str) -> set[str]:
    """The names of the placeholders in a text; empty unless the text is a template."""
    return set(_PLACEHOLDER.findall(text))
