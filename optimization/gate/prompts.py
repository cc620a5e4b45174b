"""Checks of changed prompts' texts: placeholders must stay, and gold answers must not be learnt by heart."""

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
    """The placeholders in a prompt, with the number of occurrences of each.

    Finds placeholders of ``str.format``, ``string.Template``, the operator ``%``, Jinja, Mustache, and ``<<NAME>>``.
    """
    return Counter(re.sub(r"\s+", "", match[0]) for match in PLACEHOLDER.finditer(prompt))


def lost_placeholders(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, list[str]]:
    """The placeholders that were lost, added or doubled, by prompt name."""
    changed = {}
    for name, before in old.items():
        was, now = placeholders(before), placeholders(new.get(name, ""))
        if was != now:
            changed[name] = sorted((was - now) + (now - was))
    return changed


def learnt_by_heart(
    old: Mapping[str, str], new: Mapping[str, str], gold: Iterable[str], questions: Iterable[str]
) -> dict[str, list[str]]:
    """The words of gold answers that are new in a prompt, by prompt name.

    Function words don't count, nor do words of the questions: a prompt may mention the subject of the questions.

    Args:
        old: the prompts before the change.
        new: the prompts after the change.
        gold: the gold answers of all questions that the search could see.
        questions: the questions that the search could see.
    """
    asked = {word for question in questions for word in _words(question)}
    answers = {word for answer in gold for word in _words(answer) if not is_stop(word)} - asked
    known = {word for text in old.values() for word in _words(text)}
    found = {name: sorted(answers & (_words(text) - known)) for name, text in new.items()}
    return {name: words for name, words in found.items() if words}


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}
