"""The options of the commands that list things, declared once.

A listing says which properties its things have. From this follow its filters; how a list is cut, sorted and printed is
the same for all listings.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.context import Target, Work, command
from api.cli.options import Format, FormatOption, JsonFormatOption, TraceOption, chosen_format, in_panel
from api.cli.times import SinceOption, UntilOption, span

if TYPE_CHECKING:
    from store.contract.answers import Span

LIST = "List"
"""The panel of the options that are the same for all listings."""


class Has(StrEnum):
    """A property of listed things, by which a list can be narrowed."""

    TRACE = "trace"
    TEXT = "text"
    TIME = "time"
    JUDGEMENT = "judgement"
    VERDICT = "verdict"


def _option(kind: Any, *names: str, **more: Any) -> Any:
    return Annotated[kind, typer.Option(*names, show_default=False, **more)]


_WORDS = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[WORDS]...",
        help="Only what contains these words (the same as --search); a trace, or the id of a thing, lists only this.",
        show_default=False,
    ),
]

_FILTERS: Mapping[str, tuple[Has | None, Any, Any]] = {
    "words": (Has.TEXT, _WORDS, None),
    "trace": (Has.TRACE, TraceOption, None),
    "text": (Has.TEXT, _option(str | None, "--search", metavar="TEXT", help="Only what contains these words."), None),
    "wrong": (
        Has.JUDGEMENT,
        _option(bool | None, "--wrong/--right", help="Only answers that are marked as wrong, or as right."),
        None,
    ),
    "unjudged": (
        Has.JUDGEMENT,
        _option(bool, "--unjudged", help="Only answers that are marked neither as wrong nor as right."),
        False,
    ),
    "error_type": (
        Has.VERDICT,
        _option(str | None, "--type", metavar="TYPE", help="Only wrong answers with a verdict of this error type."),
        None,
    ),
    "operation": (
        Has.VERDICT,
        _option(
            str | None,
            "--operation",
            metavar="OPERATION",
            help="Only wrong answers whose verdict blames this operation: its id, kind, or a part of its name.",
        ),
        None,
    ),
    "decided": (
        Has.VERDICT,
        _option(
            bool | None,
            "--decided/--undecided",
            help="Only wrong answers whose verdict names an error type, or those without such a verdict.",
        ),
        None,
    ),
    "labelled": (
        Has.VERDICT,
        _option(
            bool | None, "--labelled/--unlabelled", help="Only wrong answers with a person's verdict, or without one."
        ),
        None,
    ),
    "since": (Has.TIME, SinceOption, None),
    "until": (Has.TIME, UntilOption, None),
    "sort": (
        None,
        _option(
            str | None,
            "--sort",
            metavar="COLUMN",
            rich_help_panel=LIST,
            help="Sort by a column, or by time. What has no value comes last.",
        ),
        None,
    ),
    "descending": (
        None,
        _option(bool, "--descending", rich_help_panel=LIST, help="The largest first; without --sort, the last first."),
        False,
    ),
    "limit": (
        None,
        _option(int | None, "--limit", min=0, rich_help_panel=LIST, help="How many to list at most; 0 lists all."),
        None,
    ),
    "last": (
        None,
        _option(int | None, "--last", min=1, rich_help_panel=LIST, help="Only so many, the last ones."),
        None,
    ),
    "by": (
        None,
        _option(str | None, "--by", metavar="COLUMN", rich_help_panel=LIST, help="Count the things by a column."),
        None,
    ),
    "count": (None, _option(bool, "--count", rich_help_panel=LIST, help="Print only how many there are."), False),
    "ids": (None, _option(bool, "--ids", "-q", rich_help_panel=LIST, help="Print only the ids, one a line."), False),
    "format_": (None, in_panel(FormatOption, LIST), None),
    "as_json": (None, in_panel(JsonFormatOption, LIST), False),
}
"""Each option of a listing: the property that it needs (None for every listing), its declaration, its default."""


_CHOOSING = ("trace", "text", "error_type", "operation", "decided", "labelled", "since", "until", "last", "as_json")
"""The options that choose failures to work on."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a user wants of a list; see the options of the same names.

    Attributes:
        wrong: only answers marked as wrong (True) or as right (False).
        operation: only answers with a verdict that blames this operation.
        unjudged: only answers that are marked neither way.
        decided: only those whose verdict names an error type (True), or the others (False).
        labelled: only those with a person's verdict (True) or without (False).
        when: things that were recorded in this time.
        limit: 0 is no limit; None is the limit of the listing.
    """

    when: Span
    form: Format
    words: list[str] = field(default_factory=list)
    trace: str | None = None
    text: str | None = None
    wrong: bool | None = None
    unjudged: bool = False
    error_type: str | None = None
    operation: str | None = None
    decided: bool | None = None
    labelled: bool | None = None
    sort: str | None = None
    descending: bool = False
    limit: int | None = None
    last: int | None = None
    by: str | None = None
    count: bool = False
    ids: bool = False

    @property
    def chooses(self) -> bool:
        """Whether an option narrows the list."""
        return not self.is_all or any((self.trace, self.text, self.last))

    @property
    def is_all(self) -> bool:
        """Whether nothing is left out because of a judgement, a verdict or a time."""
        chosen = (
            self.wrong,
            self.error_type,
            self.operation,
            self.decided,
            self.labelled,
            self.when.since,
            self.when.until,
        )
        return not self.unjudged and all(one is None for one in chosen)


Lister = Callable[..., Coroutine[Any, Any, None]]
"""The coroutine of a listing: it takes a ``Target``, a ``Wanted`` and the command's own arguments."""


def listing(app: typer.Typer, *has: Has, name: str | None = None, panel: str | None = None) -> Callable[[Lister], Any]:
    """Make a command of a coroutine that lists things.

    Args:
        app: gets the command.
        has: the properties of the things.
        name: of the command; None for that of the coroutine.
        panel: of the help.
    """
    return _taking([key for key, (needed, *_) in _FILTERS.items() if needed is None or needed in has], app, name, panel)


def choosing(app: typer.Typer, name: str | None = None) -> Callable[[Lister], Any]:
    """Make a command of a coroutine that works on failures, which are chosen like those of a list."""
    return _taking(_CHOOSING, app, name, None)


def _taking(keys: Sequence[str], app: typer.Typer, name: str | None, panel: str | None) -> Callable[[Lister], Any]:
    def add(work: Lister) -> Any:
        place, _, *own = inspect.signature(work, eval_str=True).parameters.values()
        its_own = {one.name for one in own}
        options = {key: _FILTERS[key][1:] for key in keys if key not in its_own}

        async def run(place: Target, **given: Any) -> None:
            await work(place, _wanted({key: given.pop(key) for key in options}), **given)

        shared = [
            inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
            for key, (annotation, default) in options.items()
        ]
        parts = [*own, *shared]
        keyword_only = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parts]
        run.__signature__ = inspect.Signature([place, *keyword_only])  # type: ignore[attr-defined]
        run.__name__, run.__doc__ = work.__name__, work.__doc__
        entry: Work = run
        return command(app, name, panel=panel)(entry)

    return add


def _wanted(given: dict[str, Any]) -> Wanted:
    """What the options say.

    Raises:
        UsageError: a time is none, an error type is none, or two options contradict each other.
    """
    form = chosen_format(given.pop("format_", None), given.pop("as_json"))
    when = span(given.pop("since", None), given.pop("until", None))
    if given.get("error_type"):
        from api.cli.labels import error_type_of

        given["error_type"] = error_type_of(given["error_type"], "--type").value
    given["words"] = given.get("words") or []
    if given.get("sort"):
        given["sort"], given["descending"] = _direction(given["sort"], given.get("descending", False))
    return Wanted(when=when, form=form, **given)


_WAYS = {"asc", "desc", "ascending", "descending"}


def _direction(sort: str, descending: bool) -> tuple[str | None, bool]:
    """The column in ``--sort``, and whether the largest comes first, which ``-time`` and ``time:desc`` say, too."""
    if sort.casefold() in _WAYS:  # as `--order desc`, which names no column
        return None, descending or sort.casefold().startswith("desc")
    column, colon, way = sort.partition(":")
    if colon and way.casefold() in _WAYS:
        return column, descending or way.casefold().startswith("desc")
    if sort[0] in "-+" and sort[1:]:
        return sort[1:], descending or sort[0] == "-"
    return sort, descending
