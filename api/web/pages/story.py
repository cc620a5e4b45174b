"""The story of a wrong answer, from what GraphQL says of the failure; see ``attribution.report.story``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.web.pages import words
from attribution.report.story import story
from attribution.report.story_model import At, Story
from attribution.report.told import Search, Step, Told
from attribution.trace.told import said_on
from schema.kinds import ErrorType

Found = Mapping[str, Any]


def story_of(failure: Found, verdict: Found | None, why_not: object = None) -> Story | None:
    """The story that a verdict tells; None without a verdict.

    Args:
        failure: the failure, as the document ``failure`` has it.
        verdict: the verdict that the page explains.
        why_not: the pieces of the document ``why_not``, if they are known.
    """
    if verdict is None:
        return None
    loss = _loss(verdict)
    told = Told(
        prediction=failure["prediction"],
        gold_answers=failure["goldAnswers"],
        error_type=verdict["errorType"],
        reason=words.sentence(verdict["reason"]) if verdict["reason"] else None,
        operation=_at(verdict["operation"]),
        piece=loss["piece"] if loss else "",
        path=[_step(one) for one in (loss["path"] if loss else verdict["evidence"])],
        search=_search(loss, why_not),
    )
    return story(told)


def _loss(verdict: Found) -> Found | None:
    """The piece that the sentence is about: the first that was lost where the verdict says, else the first."""
    at = (verdict["operation"] or {}).get("id")
    blamed = [one for one in verdict["losses"] if not one["reached"] and (one["operation"] or {}).get("id") == at]
    return next(iter([*blamed, *verdict["losses"]]), None)


def _step(found: Found) -> Step:
    variable, operation = found["variable"], found["operation"]
    when = (variable and variable["createdAt"]) or (operation and operation["startedAt"])
    return Step(
        holds=found["holds"],
        quote=found["quote"] or "",
        kind=variable["kind"] if variable else None,
        value=variable["preview"] if variable else "",
        variable_id=variable["id"] if variable else None,
        variable=words.variable(variable) if variable else "",
        operation=_at(operation),
        time=(said_on(variable["attributes"]) if variable else None) or when,
    )


def _at(found: Found | None) -> At | None:
    if found is None:
        return None
    return At(id=found["id"], name=words.plain(words.operation(found)), kind=found["kind"], sequence=found["sequence"])


def _search(loss: Found | None, why_not: object) -> Search | None:
    """How the searches rated the unit with the needed words, if they lost the piece and this is known."""
    if loss is None or loss["errorType"] != ErrorType.RETRIEVAL or not isinstance(why_not, list):
        return None
    piece = next((one for one in why_not if one["piece"] == loss["piece"]), None)
    if piece is None:
        return None
    return Search(
        returned=[(one["text"], one["rank"], one["score"]) for one in piece["returned"]],
        held=[(one["quote"], one["rank"], one["score"]) for one in piece["held"] if not one["returned"]],
        considered=piece["considered"],
        returned_count=piece["returnedCount"],
    )
