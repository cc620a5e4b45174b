"""What works with a model, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from api.cli.render import style
from api.cli.render.tables import sheet, table
from api.cli.render.text import counted, one_line

if TYPE_CHECKING:
    from attribution.llm.transport.settings import LlmSettings
    from attribution.llm.trial.check import ModelCheck
    from attribution.llm.trial.costs import FailureCost


def parts(settings: LlmSettings, found: ModelCheck, costs: Sequence[FailureCost]) -> list[RenderableType]:
    """The server, the forms of replies, the speed, and the cost of a failure with each method."""
    shown: list[RenderableType] = [sheet(_facts(settings, found))]
    if found.forms:
        rows = [
            (Text(one.form), Text("yes", style.GOOD) if one.works else Text("no", style.BAD), Text(one_line(one.how)))
            for one in found.forms
        ]
        shown += [Text(), table(("form of a reply", "works", "how"), rows, wide="how")]
    if costs:
        columns = ("a failure with", "tokens", "seconds", "cost", "from")
        shown += [Text(), table(columns, map(_cost, costs), numbers=columns[1:4])]
    return shown


def _facts(settings: LlmSettings, found: ModelCheck) -> list[tuple[str, str | None]]:
    speed, spent = found.speed, found.spent
    rates = None
    if speed is not None:
        written = f", writes {_rate(speed.output)}" if speed.output is not None else ""
        rates = f"reads {_rate(speed.input)}{written}"
    listed = None if found.listed is None else f"{counted(len(found.listed), 'model')} listed"
    return [
        ("server", settings.base_url),
        ("model", settings.model),
        ("", listed),
        ("speed", rates),
        ("trial", f"{counted(spent.calls, 'request')}, {spent.input_tokens + spent.output_tokens:,} tokens"),
    ]


def _rate(tokens: float) -> str:
    return f"{tokens:,.0f} tokens a second" if tokens >= 10 else f"{tokens:,.1f} tokens a second"


def _cost(one: FailureCost) -> Sequence[Text]:
    source = f"median of {counted(one.verdicts, 'verdict')} here" if one.verdicts else "estimate"
    return (
        Text(one.method),
        Text(f"{one.tokens:,}"),
        Text("" if one.seconds is None else f"{one.seconds:,.0f}"),
        Text("" if one.cost is None else f"{one.cost:.4g}"),
        Text(source),
    )
