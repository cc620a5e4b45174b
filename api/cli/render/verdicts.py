"""Verdicts as blocks of text, and the agreement of two sources of verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from api.cli.render import style
from api.cli.render.tables import sheet, table
from api.cli.render.text import middle, one_line, says_the_same, short
from attribution.report import words
from schema.error_type_names import error_type_name
from schema.kinds import ErrorType, VariableKind

if TYPE_CHECKING:
    from attribution.report.failure_report import CitedCandidate, CitedLoss, CitedStep, FailureReport
    from attribution.statistics.intervals import Interval
    from attribution.statistics.kappa import SourceAgreement

_QUOTE = 300
_WHOLE_REASON = 4_000
"""The reason of an abstention ends with what to do, so it is shown whole."""
_REASON = 500


def case(found: FailureReport, file: str | None = None) -> Table:
    """A failure with its verdict, the end of each piece, the path that proves the verdict, and the other candidates.

    Args:
        found: the failure.
        file: the graph file of the failure; None for a failure in the store.
    """
    also = words.worth_saying(found.candidates)
    return sheet(
        (
            ("verdict", _verdict(found)),
            ("code", found.operation.location if found.operation else None),
            ("file", file),
            ("failure", None if file else style.id_(found.failure_id)),
            ("question", _question(found)),
            ("answer", Text(one_line(found.prediction or "", _QUOTE))),
            ("gold", Text(" | ".join(one_line(gold, _QUOTE) for gold in found.gold_answers), style=style.GOOD)),
            ("reason", Text(one_line(found.reason or "", _WHOLE_REASON))),
            ("replay", Text(one_line(words.proof(found.proof), _REASON)) if found.proof else None),
            ("pieces", Text("\n").join(_loss(one, found.reason) for one in found.losses) if found.losses else None),
            ("path", Text("\n").join(map(_step, found.path)) if found.path else None),
            ("or else", Text("\n").join(map(_candidate, also)) if also else None),
        )
    )


def listed(found: Sequence[FailureReport]) -> Table:
    """A line for each failure, with the verdict."""
    columns = ("id", "verdict", "confidence", "operation", "question")
    rows = (
        (
            style.id_(one.failure_id),
            Text(error_type_name(one.error_type), style=style.BAD if one.error_type else style.DIM),
            Text("" if one.confidence is None or one.error_type is None else f"{one.confidence:.2f}"),
            Text(middle(one.operation.label, 40) if one.operation else ""),
            Text(one_line(one.question, 60)),
        )
        for one in found
    )
    return table(columns, rows, wide="question", numbers=("confidence",))


def _question(found: FailureReport) -> Text:
    text = Text(one_line(found.question, _QUOTE))
    if found.question_label and found.question_label != found.question:
        text.append(f"  ({middle(found.question_label, 60)})", style=style.DIM)
    return text


def _verdict(found: FailureReport) -> Text:
    text = Text(error_type_name(found.error_type), style=style.BAD)
    if found.operation:
        text.append(" at ", style="default").append_text(style.id_(found.operation.id))
        text.append(f" {one_line(found.operation.label, 60)}{_model(found)}", style="default")
    by = " ".join(part for part in (found.method, found.model, found.author) if part)
    sure = "" if found.confidence is None else f", confidence {found.confidence:.2f}"
    return text.append(f"  ({one_line(by, 80)}{sure})", style=style.DIM)


def _model(found: FailureReport) -> str:
    """The model of the blamed operation, if the verdict shows another operation with the same name."""
    blamed = found.operation
    steps = [*found.path, *(step for loss in found.losses for step in loss.path)]
    if blamed is None or not any(
        step.operation == blamed.label and step.operation_id not in {None, blamed.id} for step in steps
    ):
        return ""
    model = blamed.settings.get("model")
    return f" ({one_line(str(model), 40)})" if model else ""


def _step(step: CitedStep) -> Text:
    if step.kind is VariableKind.QUERY and step.holds:
        text = Text("asked: ", style=style.DIM)  # the way of a question that no message answers
    else:
        text = Text("has the fact: ", style=style.GOOD) if step.holds else Text("does not have it: ", style=style.BAD)
    if step.kind:
        text.append_text(style.kind(step.kind.value)).append(" ")
    text.append_text(style.id_(step.variable_id))
    name = words.named(step)
    if name and not (step.quote and says_the_same(name, step.quote)):
        text.append(f" {middle(name, 40)}", style="default")
    if step.operation:
        text.append(f" by {one_line(step.operation, 60)}", style=style.DIM)
    if step.quote:
        text.append(f" “{one_line(step.quote, _QUOTE)}”", style="default")
    return text


def _loss(loss: CitedLoss, said: str | None) -> Text:
    """A piece with the place where it was lost, and the confidence; without a reason that the verdict has ``said``."""
    text = Text(f"“{one_line(loss.piece, _QUOTE)}” ", style="default")
    if loss.reached:
        text.append("reached the answer", style=style.GOOD)
    elif loss.operation_id:
        text.append("lost at ", style=style.BAD).append_text(style.id_(loss.operation_id))
        text.append(f" {one_line(loss.operation or '', 60)}", style="default")
    elif loss.error_type:
        text.append("was not lost", style="default")
    else:
        why = "" if loss.reason == said else f": {one_line(loss.reason, _REASON)}"
        text.append(f"unknown where{why}", style="default")
        return text
    kind = f"{error_type_name(loss.error_type)}, " if loss.error_type else ""
    return text.append(f"  ({kind}confidence {loss.confidence:.2f})", style=style.DIM)


def _candidate(candidate: CitedCandidate) -> Text:
    at = (
        f" at {short(candidate.operation_id)} {one_line(candidate.operation or '', 60)}"
        if candidate.operation_id
        else ""
    )
    text = Text(f"{error_type_name(candidate.error_type)}{at}")
    if candidate.confidence is not None:
        text.append(f" ({candidate.confidence:.2f})", style=style.DIM)
    return text.append(f" {one_line(candidate.reason, _REASON)}", style="default")


def agreement(found: SourceAgreement) -> list[RenderableType]:
    """How far two sources agree, and how often each pair of error types occurred."""
    parts: list[RenderableType] = [
        sheet(
            (
                ("cases", f"{found.cases:,} judged by both ({found.abstained:,} more with an abstention)"),
                ("same error type", _share(found.type_accuracy, found.type_accuracy_interval)),
                ("Cohen's kappa", _number(found.type_kappa, found.type_kappa_interval)),
                ("same operation", _share(found.operation_accuracy)),
                ("its kappa", _number(found.operation_kappa)),
                ("both", _share(found.joint_accuracy)),
                ("their kappa", _number(found.joint_kappa)),
            )
        )
    ]
    if found.confusion:
        parts += [Text(), Text(f"{one_line(found.first, 40)} down, {one_line(found.second, 40)} across", style.DIM)]
        parts.append(confusion(found.confusion))
    return parts


def confusion(counts: dict[str, dict[str, int]]) -> Table:
    """How often each pair of error types occurred."""
    named = {name for row in counts.values() for name in row}
    columns = [*(kind.value for kind in ErrorType if kind.value in named), *sorted(named - set(ErrorType))]
    return table(
        ("", *map(_abbreviated, columns)),
        (
            (Text(error_type_name(name)), *(Text(f"{row[column]:,}" if column in row else "·") for column in columns))
            for name, row in counts.items()
        ),
        numbers=[_abbreviated(column) for column in columns],
    )


def _abbreviated(name: str) -> str:
    return error_type_name(name).removesuffix(" error")


def _share(value: float | None, interval: Interval | None = None) -> str:
    if value is None:
        return "n/a"
    sure = f"  ({100 * interval.low:.1f} to {100 * interval.high:.1f} %)" if interval else ""
    return f"{100 * value:.1f} %{sure}"


def _number(value: float | None, interval: Interval | None = None) -> str:
    if value is None:
        return "n/a"
    sure = f"  ({interval.low:.2f} to {interval.high:.2f})" if interval else ""
    return f"{value:.2f}{sure}"
