"""The proof of a verdict by replay, as blocks of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from api.cli.render import style
from api.cli.render.tables import sheet
from api.cli.render.text import one_line
from schema.error_type_names import error_type_name
from schema.models import Operation

if TYPE_CHECKING:
    from optimization.proof.run import ReplayedVerdict
    from optimization.proof.what_if import WhatIf

_LONG = 300
_COLOURS = {"proved": style.GOOD, "refuted": style.BAD, "unsettled": style.DIM}


def proved(found: ReplayedVerdict, operations: Mapping[str, Operation]) -> Table:
    """A failure, its verdict after the replay, and the proof."""
    verdict, proof = found.attribution, found.proof
    operation = operations.get(verdict.operation_id or "")
    named = Text(error_type_name(verdict.error_type), style=style.BAD)
    if operation is not None:
        named.append(" at ", style="default").append_text(style.id_(operation.id))
        named.append(f" {one_line(operation.name or operation.kind.value, 60)}", style="default")
    if verdict.confidence is not None:
        named.append(f"  (confidence {verdict.confidence:.2f})", style=style.DIM)
    if found.is_reopened:
        named.append("  reopened by the replay", style=style.DIM)
    return sheet(
        (
            ("failure", style.id_(found.failure.id)),
            ("question", Text(one_line(found.failure.question, _LONG))),
            ("verdict", named),
            *rows(proof.as_json()),
        )
    )


def rows(proof: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The lines of a stored proof."""
    said = Text(str(proof["result"]), style=_COLOURS.get(str(proof["result"]), "default"))
    said.append(f": {one_line(str(proof['reason']), _LONG)}", style="default")
    found: list[tuple[str, Any]] = [("proof", said)]
    if proof.get("correction"):
        found.append(("correction", Text(one_line(str(proof["correction"]), _LONG))))
    if proof.get("p1") is not None:
        rates = f"{100 * proof['p1']:.0f} % right with it ({proof['draws']} runs)"
        if proof.get("p0") is not None:
            rates += f", {100 * proof['p0']:.0f} % without ({proof['nullDraws']} runs), p = {proof['p']:.3g}"
        found.append(("rates", Text(rates)))
    if proof.get("answer"):
        found.append(("then answered", Text(one_line(str(proof["answer"]), _LONG))))
    divergence = proof.get("firstDivergence")
    if divergence:
        found.append(("first change", Text(one_line(f"{divergence['call']} {divergence['given']}", _LONG))))
    refuted = (f"{one['errorType']} at {one['operationId']}: {one['reason']}" for one in proof.get("refuted") or ())
    return found + [("refuted", Text(one_line(text, _LONG))) for text in refuted]


def answered(found: WhatIf) -> Table:
    """The answer that the correction leads to."""
    return sheet(
        (
            ("failure", style.id_(found.failure_id)),
            ("answered", Text(one_line(found.recorded, _LONG))),
            ("with it", Text("\n").join(Text(one_line(one, _LONG)) for one in dict.fromkeys(found.answers))),
            (
                "right",
                Text(f"{found.right} of {len(found.answers)}, {100 * found.p0:.0f} % without, p = {found.p:.3g}"),
            ),
            (
                "first change",
                None
                if found.first_divergence is None
                else Text(one_line(f"{found.first_divergence.call} {found.first_divergence.given}", _LONG)),
            ),
        )
    )
