"""The past of a wrong answer as a list of boxes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from api.cli.render import style
from api.cli.render.tables import sheet
from api.cli.render.text import one_line, says_the_same
from attribution.spine import words
from attribution.spine.model import State

if TYPE_CHECKING:
    from attribution.spine.model import Box, Spine
    from schema.models import Failure

_QUOTE = 300
_STYLES = {State.HAS: style.GOOD, State.LOST: style.BAD, State.LACKS: style.DIM}


def head(failure: Failure) -> RenderableType:
    """The failure."""
    return sheet(
        (
            ("failure", style.id_(failure.id)),
            ("question", Text(one_line(failure.question, _QUOTE))),
            ("answer", Text(one_line(failure.prediction or "", _QUOTE))),
            ("gold", Text(" | ".join(one_line(gold, _QUOTE) for gold in failure.gold_answers), style=style.GOOD)),
        )
    )


def lines(spine: Spine, width: int) -> Iterator[Text]:
    """The pieces, then the boxes, each with its sources."""
    yield Text("")
    for number, piece in enumerate(spine.pieces, 1):
        outcome = "reached the answer" if piece.reached else "its end is not known"
        if piece.operation_name:
            outcome = f"lost by {one_line(piece.operation_name)}"
        line = Text(f"fact {number}: ", style=style.DIM).append(f"“{one_line(piece.text, width // 2)}” ", "default")
        yield line.append(outcome, style=style.BAD if piece.operation_name else style.DIM)
    yield Text(f"{words.summary(spine)}:", style=style.DIM)
    for number, box in enumerate(spine.boxes):
        yield _box(box, number)
        for line in _details(spine, number):
            yield Text("      ").append_text(line)


def _box(box: Box, number: int) -> Text:
    line = Text(f"{number + 1:>4}  ")
    if box.count == 1:
        line.append_text(style.kind(box.kind)).append(" ")
        line.append_text(style.id_((box.variables or box.operations)[0])).append(" ")
    if not (box.count == 1 and box.text and says_the_same(box.label, box.text)):
        line.append(one_line(box.label), style="dim" if box.is_others else "bold")
    if role := words.role(box):
        line.append(f", {role}", style=style.DIM)
    if inside := words.inside(box):
        line.append(f" ({inside})", style=style.DIM)
    return line


def _details(spine: Spine, number: int) -> Iterator[Text]:
    """The text of a box: its state for each piece, its value, and its sources."""
    box = spine.boxes[number]
    for said in words.states(spine, box):
        yield Text(said.text, style=style.DIM if said.state is None else _STYLES[said.state])
    if box.text:
        yield Text(f"“{one_line(box.text, _QUOTE)}”")
    edges = [edge for edge in spine.edges if edge.target == number]
    for edge in edges:
        names = ", ".join(words.operations(one_line(one.name), one.count) for one in edge.operations)
        line = Text("from ", style=style.DIM).append(str(edge.source + 1), style="default")
        line.append(f" by {names}" if names else "")
        if edge.lost:
            line.append(f"  ✕ {words.numbers(edge.lost) if len(spine.pieces) > 1 else 'the fact'} did not get through")
            line.stylize(style.BAD)
        elif not edge.derivations:
            line.append("  nothing was derived from it")
        yield line
