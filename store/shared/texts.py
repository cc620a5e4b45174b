"""Texts of queries: files in a folder ``queries`` beside the code that runs them, never built from input.

A file is one text, or several on one subject, each below a line ``-- name: NAME``. Texts that differ only in the names
of tables or columns are one template with placeholders such as ``{{table}}``, which are filled from a closed list. What
several texts say is a fragment, a part of a file in the folder ``fragments``: ``{{wanted.verdict a}}`` stands for the
part ``verdict`` of ``wanted`` there, in which ``{{it}}`` is ``a``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from importlib.resources import files

Fillings = Mapping[StrEnum, Mapping[str, str]]
"""The closed list: for each thing that a template can be about, what its placeholders are filled with."""

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_FRAGMENT = re.compile(r"\{\{(\w+)\.(\w+)(?: (\w+))?\}\}")
_PART = re.compile(r"^-- name: (\w+)\n(.*?)(?=^-- name: |\Z)", re.MULTILINE | re.DOTALL)


def texts_of(package: str, suffix: str, fillings: Fillings) -> Callable[..., str]:
    """A function that returns a text of a folder: it takes ``file`` or ``file.name``, and what a template is about.

    It raises ``ValueError`` if there is no such text, or if the template can't be filled from the closed list.

    Args:
        package: the folder, such as ``store.sqlite.queries``.
        suffix: how the names of its files end, such as ``.sql``.
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
    """The texts of a file by name; the name of a single one is empty."""
    return {name: text.strip() for name, text in _PART.findall(content)} or {"": content}


def placeholders(text: str) -> set[str]:
    """The names of the placeholders in a template; none in a text that is no template."""
    return set(_PLACEHOLDER.findall(text))
