"""The report of an optimization: Markdown with the changes of the prompts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import unified_diff
from typing import Any

from attribution.report.markdown.text import fenced


def diff(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """The changes of prompts as a unified diff, prompt by prompt; empty if there are none."""
    parts = []
    for name in sorted(before):
        old, new = before[name].splitlines(keepends=True), after.get(name, "").splitlines(keepends=True)
        lines = list(unified_diff(old, new, f"{name} (before)", f"{name} (after)"))
        parts.append("".join(line if line.endswith("\n") else f"{line}\n" for line in lines))
    return "".join(parts)


def markdown(said: Mapping[str, Any]) -> str:
    """The report of an optimization, from the content of ``found.json``."""
    gate = said["gate"]
    lines = ["# Optimization of prompts", "", f"**{'Accepted' if gate['accepted'] else 'Not accepted'}.**", ""]
    lines += [f"- {reason}" for reason in gate["reasons"]]
    lines += [*_figures(said), "## Changes", ""]
    changes = diff(said["before"], said["after"])
    lines += fenced("diff", changes.splitlines()) if changes else ["None.", ""]
    for title, questions in (("Fixed", said["fixed"]), ("Broken", said["broken"])):
        lines += [f"## {title}: {len(questions)} answers of the gate", "", *_questions(questions), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _figures(said: Mapping[str, Any]) -> list[str]:
    gate, search, parts = said["gate"], said["found"], said["split"]
    lines = ["", "| | |", "| --- | --- |"]
    lines.append(f"| conversations | {', '.join(f'{len(users)} {part}' for part, users in parts.items())} |")
    if search is not None:
        lines.append(f"| candidates | {len(search['candidates'])} |")
        lines.append(f"| evaluated conversations of the search | {search['evaluations']} |")
        lines.append(f"| reflections | {search['reflections']} |")
        lines.append(f"| the search ended because | {_cell(search['ended'])} |")
    if gate["p"] is not None:
        lines.append(f"| better conversations, worse ones | {gate['better']}, {gate['worse']} |")
        lines.append(f"| p, by conversation | {gate['p']:.3g} |")
        lines.append(f"| right answers that are wrong now | {gate['harmed']} of {gate['controls']} |")
        lines.append(f"| at most so many may be harmed | {gate['bound']:.1%} |")
    if gate["cost"] is not None:
        lines.append(f"| cost, to that before | {gate['cost']:.2f} |")
    paid = "" if said["cost"] is None else f", cost {said['cost']:.4g}"
    lines.append(f"| paid | {said['calls']:,} live calls, {said['tokens']:,} tokens{paid} |")
    return [*lines, ""]


def _questions(questions: Iterable[tuple[str, str]]) -> list[str]:
    return [f"- {_cell(user)}: {_cell(question)}" for user, question in questions] or ["None."]


def _cell(text: str) -> str:
    """A text in one line, with Markdown escaped."""
    plain = " ".join(text.split())
    return "".join(f"\\{mark}" if mark in r"\`*_[]<>|#" else mark for mark in plain)
