"""Checks of the texts of prompts alone: what they must keep, and what they must not have learnt by heart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from attribution.text.tokens import is_stop

_WORD = re.compile(r"\w+", re.UNICODE)
PLACEHOLDER = re.compile(
    r"\{\{\s*[\w.]+\s*\}\}"  # Jinja, Mustache
    r"|(?<!\{)\{[\w.!:\[\]]*\}(?!\})"  # str.format
    r"|\$\{\w+\}|\$[A-Za-z_]\w*"  # string.Template
    r"|%\(\w+\)[sdrf]|%[sdrf]\b"  # the operator %
    r"|<<\w+>>"
)


def placeholders(prompt: str) -> Counter[str]:
    """The places into which the program puts something, each with how often it occurs.

    Known are those of ``str.format``, ``string.Template``, the operator ``%``, Jinja and Mustache, and ``<<NAME>>``.
    """
    return Counter(re.sub(r"\s+", "", match[0]) for match in PLACEHOLDER.finditer(prompt))


def lost_placeholders(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, list[str]]:
    """By name of prompt, the placeholders that are not the same ones as before: lost, added, or doubled."""
    changed = {}
    for name, before in old.items():
        was, now = placeholders(before), placeholders(new.get(name, ""))
        if was != now:
            changed[name] = sorted((was - now) + (now - was))
    return changed


def learnt_by_heart(
    old: Mapping[str, str], new: Mapping[str, str], gold: Iterable[str], questions: Iterable[str]
) -> dict[str, list[str]]:
    """By name of prompt, the words of gold answers that are new in it.

    Words without content do not count, nor do those of the questions: a prompt may speak of what is asked about.

    Args:
        old: the prompts before.
        new: the prompts after.
        gold: the gold answers of all cases that the search could see.
        questions: their questions.
    """
    asked = {word for question in questions for word in _words(question)}
    answers = {word for answer in gold for word in _words(answer) if not is_stop(word)} - asked
    known = {word for text in old.values() for word in _words(text)}
    found = {name: sorted(answers & (_words(text) - known)) for name, text in new.items()}
    return {name: words for name, words in found.items() if words}


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}
