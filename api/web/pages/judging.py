"""The form in which people record a verdict: its choices, and how an answer to it is read."""

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
"""The keyboard keys that choose operations: letters that the page does not use otherwise."""

MOST_BYTES = 200_000
"""The most bytes of a form with a verdict: it quotes evidence."""

_OTHER = "other"
_MOST_ALSO = 20


@dataclass(frozen=True, slots=True)
class Refused:
    """The form can't be accepted; ``problem`` says why."""

    problem: str


def verdict_of(failure_id: str, form: Mapping[str, str]) -> dict[str, Any] | Refused:
    """The verdict in a form, as GraphQL takes it."""
    kind = form.get("type", "")
    chosen = form.get("operation", "")
    blamed = form.get("other", "").strip() if chosen == _OTHER else chosen
    if not kind:
        return Refused("Choose what went wrong, or say that you can't tell.")
    if _needs_operation(kind) and not blamed:
        return Refused(f"Choose the operation that made the {words.error_type_name(kind).lower()}, too.")
    also = []
    for number in range(also_rows(form)):
        other, at = form.get(f"also-type-{number}", ""), form.get(f"also-operation-{number}", "")
        if other not in words.ERROR_TYPES:
            continue
        if _needs_operation(other) and not at:
            named = words.error_type_name(other).lower()
            return Refused(f"Choose the operation of the {named} that you would accept, too.")
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
    """The number of rows for further accepted verdicts: one more than the form has."""
    named = (number for number in range(_MOST_ALSO) if form.get(f"also-type-{number}"))
    return min(max(named, default=-1) + 2, _MOST_ALSO)


def form_of_verdict(own: Found | None) -> dict[str, str]:
    """The form that shows a verdict; empty without a verdict."""
    if own is None:
        return {}
    also = [(one["errorType"], _id(one["operation"])) for one in own["candidates"]]
    shown = [(one["variable"]["id"], one["quote"]) for one in own["evidence"] if one["variable"]]
    return _form(own["errorType"], _id(own["operation"]), own["reason"], also, shown)


def form_of_draft(text: str | Found) -> dict[str, str]:
    """The form of a verdict that was refused; see ``schema.annotation.Assignment``."""
    said = json.loads(text) if isinstance(text, str) else text
    return _form(said["error_type"], said["operation_id"], said["reason"], said["also"], said["evidence"])


def operations(failure: Found, verdicts: Iterable[Found], more: Iterable[Found | None] = ()) -> list[Found]:
    """Operations to choose from: those of verdicts and their paths, and the suspects, in the order of the trace.

    Args:
        failure: the failure; its suspects are found without verdicts.
        verdicts: the verdicts that the viewer may see.
        more: operations that the form names.
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
    """The keyboard key of each operation, by id.

    Suspects get the first keys, because verdicts don't change the suspects. The last suspect made the answer, so it
    always has a key; of the others, those after the last letter have none.
    """
    suspects: list[str] = [one["id"] for one in failure["suspects"]]
    keyed = suspects if len(suspects) <= len(LETTERS) else [*suspects[: len(LETTERS) - 1], suspects[-1]]
    order = dict.fromkeys([*keyed, *(one["id"] for one in listed if one["id"] not in suspects)])
    return dict(zip(order, LETTERS, strict=False))


def texts(failure: Found, own: Found | None, spine: Spine | None, form: Mapping[str, str]) -> list[dict[str, str]]:
    """Variables that may show the cause, the evidence first, each with id, kind, label and preview.

    Variables that the form names are included, so that they stay selected when the form is shown again.
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
