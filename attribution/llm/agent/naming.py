"""Names in a proposal that several operations have, and the list of these operations from which a model chooses."""

from __future__ import annotations

from typing import Any

from attribution.llm.agent.proposal import Proposal
from attribution.llm.agent.rendering import clip, listed, show_operation, show_variable
from attribution.llm.agent.view import FailureView
from schema.models import Operation

_MOST = 12
_MADE = 2
_PREVIEW = 80


def shared_names(view: FailureView, proposal: Proposal) -> list[str]:
    """The names in a proposal that several operations have."""
    named = [proposal.operation]
    named += [one.operation for one in proposal.pieces]
    named += [one.operation for one in proposal.alternatives]
    return [one for one in dict.fromkeys(named) if one and view.operation(one) is None and len(view.called(one)) > 1]


def describe_shared(view: FailureView, name: str) -> dict[str, Any]:
    """The operations with a name, each with its id and the beginnings of what it made."""

    def show(operation: Operation) -> dict[str, Any]:
        made = [show_variable(view, one, _PREVIEW) for one in view.graph.made(operation.id)[:_MADE]]
        return show_operation(view, operation.id) | {
            "made": [{"variable": one["variable"], "preview": one["preview"]} for one in made]
        }

    return {"name": clip(name, _PREVIEW), "operations": listed(view.called(name), _MOST, show)}
