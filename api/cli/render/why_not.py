"""What the memory held and did not return, as a tree of pieces, parts and lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text
from rich.tree import Tree

from api.cli.render import style
from api.cli.render.tables import sheet
from api.cli.render.text import middle, one_line, says_the_same
from attribution.why_not.lines import Line, pieces

if TYPE_CHECKING:
    from attribution.why_not.model import WhyNot
    from schema.models import Failure

_QUOTE = 300


def pages(failure: Failure, found: Sequence[WhyNot]) -> Iterator[RenderableType]:
    """A failure, followed by the pieces of its answer."""
    yield sheet(
        (
            ("failure", style.id_(failure.id)),
            ("question", Text(one_line(failure.question, _QUOTE))),
            ("answer", Text(one_line(failure.prediction or "", _QUOTE))),
            ("gold", Text(" | ".join(one_line(gold, _QUOTE) for gold in failure.gold_answers), style=style.GOOD)),
        )
    )
    for piece in pieces(found):
        one = piece.of
        quote = Text(f"“{one_line(one.piece, _QUOTE)}”", style="default")
        tree = Tree(Text(f"{piece.title}: ", style=style.DIM).append_text(quote))
        said = Text("said in ", style=style.DIM).append_text(style.id_(one.message_id))
        tree.add(
            said if says_the_same(one.message_label, one.piece) else said.append(f" {middle(one.message_label, 60)}")
        )
        lost = style.BAD if one.error_type else style.DIM
        tree.add(Text(one_line(piece.outcome), style=lost))
        for part in piece.parts:
            branch = tree.add(Text(one_line(part.title), style=style.DIM))
            for line in part.lines:
                branch.add(_line(line))
        yield tree


def _line(line: Line) -> Text:
    text = Text()
    if line.id:
        text.append_text(style.id_(line.id)).append(" ")
    if line.name and not any(says_the_same(line.name, quote) for quote in line.quotes):
        text.append(f"{middle(line.name, 40)} ", style="default")
    text.append(one_line(line.said), style=style.DIM)
    quotes = " → ".join(f"“{one_line(quote, _QUOTE)}”" for quote in line.quotes)
    return text.append(f"{' ' if line.said and quotes else ''}{quotes}", style="default")
