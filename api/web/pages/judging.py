"""The form in which a person says why an answer is wrong: what it offers, and what it says when it comes back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.web.pages import words
from attribution.spine.model import Spine
from schema.kinds import NOT_THE_MEMORY

Found = Mapping[str, Any]

LETTERS = "abcdfhijklmpqrtvxyz"
"""The keys that choose operations: letters that do nothing else on a page."""

_OTHER = "other"
_MOST_ALSO = 20


@dataclass(frozen=True, slots=True)
class Refused:
    """What is wrong with a form, in words."""

    problem: str


def verdict_of(failure_id: str, form: Mapping[str, str]) -> dict[str, Any] | Refused:
    """What a form says, as GraphQL takes it."""
    kind = form.get("type", "")
    chosen = form.get("operation", "")
    blamed = form.get("other", "").strip() if chosen == _OTHER else chosen
    if not kind:
        return Refused("Choose what went wrong, or say that you can't tell.")
    if _needs_operation(kind) and not blamed:
        return Refused(f"Choose the operation that made the {words.error_type(kind).lower()}, too.")
    also = []
    for number in range(also_rows(form)):
        other, at = form.get(f"also-type-{number}", ""), form.get(f"also-operation-{number}", "")
        if other not in words.ERROR_TYPES:
            continue
        if _needs_operation(other) and not at:
            return Refused(f"Choose the operation of the {words.error_type(other).lower()} that you would accept, too.")
        also.append({"errorType": other, "operation": at if _needs_operation(other) else None})
    return {
        "failure": failure_id,
        "errorType": kind if kind in words.ERROR_TYPES else None,
        "operation": blamed if _needs_operation(kind) else None,
        "also": also,
        "reason": form.get("reason", "").strip() or None,
        "evidence": [{"variable": id_, "quote": form[f"{words.SHOWS}{id_}"]} for id_ in words.shown(form)],
    }


def also_rows(form: Mapping[str, str]) -> int:
    """How many other verdicts a form has room for: one more than it names."""
    named = (number for number in range(_MOST_ALSO) if form.get(f"also-type-{number}"))
    return min(max(named, default=-1) + 2, _MOST_ALSO)


def form_of_verdict(own: Found | None) -> dict[str, str]:
    """The form as a verdict fills it in; empty without one."""
    if own is None:
        return {}
    also = [(one["errorType"], _id(one["operation"])) for one in own["candidates"]]
    shown = [(one["variable"]["id"], one["quote"]) for one in own["evidence"] if one["variable"]]
    return _form(own["errorType"], _id(own["operation"]), own["reason"], also, shown)


def form_of_draft(text: str | Found) -> dict[str, str]:
    """The form as somebody sent it who was refused; see ``schema.annotation.Assignment``."""
    said = json.loads(text) if isinstance(text, str) else text
    return _form(said["error_type"], said["operation_id"], said["reason"], said["also"], said["evidence"])


def operations(failure: Found, verdicts: Iterable[Found], more: Iterable[Found | None] = ()) -> list[Found]:
    """Operations to choose from: those that verdicts name or that a piece passed, then those near the evidence.

    Args:
        failure: the failure, whose suspects stand there whatever verdicts say.
        verdicts: those that the viewer may see.
        more: what the form itself names.
    """
    named: list[Found | None] = list(more)
    listed = list(verdicts)
    for verdict in listed:
        named += [verdict["operation"], *(one["operation"] for one in verdict["candidates"])]
        named += [loss["operation"] for loss in verdict["losses"]]
    named += failure["suspects"]
    for verdict in listed:
        named += [step["operation"] for loss in verdict["losses"] for step in loss["path"]]
    by_id = {one["id"]: one for one in named if one is not None}
    return sorted(by_id.values(), key=lambda one: int(one["sequence"]))


def letters(failure: Found, listed: Iterable[Found]) -> dict[str, str]:
    """The key of each operation to choose from, by its id; none where all keys are taken.

    The suspects come first, for no verdict changes them. The last of them has a key in any case: it gave the answer.
    """
    suspects: list[str] = [one["id"] for one in failure["suspects"]]
    keyed = suspects if len(suspects) <= len(LETTERS) else [*suspects[: len(LETTERS) - 1], suspects[-1]]
    order = dict.fromkeys([*keyed, *(one["id"] for one in listed if one["id"] not in suspects)])
    return dict(zip(order, LETTERS, strict=False))


def texts(failure: Found, own: Found | None, spine: Spine | None, form: Mapping[str, str]) -> list[dict[str, str]]:
    """Variables that may show why, each with its id, kind, label and beginning: the evidence first.

    What the form names is among them, so that it is not lost when it is sent again.
    """
    found = {one["id"]: _text(one) for one in failure["evidence"]}
    for step in own["evidence"] if own else ():
        if step["variable"]:
            found.setdefault(step["variable"]["id"], _text(step["variable"]))
    for box in spine.boxes if spine else ():
        if box.roles and len(box.variables) == 1 == box.count:
            (id_,) = box.variables
            found.setdefault(id_, {"id": id_, "kind": box.kind, "label": box.label, "text": box.text})
    found.pop(failure["questionId"], None)
    for id_ in words.shown(form):
        found.setdefault(id_, {"id": id_, "kind": "Variable", "label": "that you chose before", "text": ""})
    return list(found.values())


def _needs_operation(kind: str) -> bool:
    return kind in words.ERROR_TYPES and kind not in NOT_THE_MEMORY


def _id(operation: Found | None) -> str:
    return operation["id"] if operation else ""


def _text(variable: Found) -> dict[str, str]:
    name = words.variable(variable)
    return {"id": variable["id"], "kind": variable["kind"], "label": name, "text": variable["preview"]}


def _form(
    kind: str | None,
    operation: str | None,
    reason: str | None,
    also: Sequence[Sequence[str | None]],
    shown: Sequence[Sequence[str | None]],
) -> dict[str, str]:
    form = {"type": kind or "unknown", "operation": operation or "", "reason": reason or ""}
    for number, (other, at) in enumerate(also):
        form |= {f"also-type-{number}": other or "", f"also-operation-{number}": at or ""}
    return form | {f"{words.SHOWS}{id_}": quote or "" for id_, quote in shown}
