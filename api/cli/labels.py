"""Commands for people's verdicts: one verdict by hand, or labels in files."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.context import Target, command
from api.cli.errors import UsageError, note
from api.cli.files import whole_file
from api.cli.filters import Has, Wanted, listing
from api.cli.options import FailureHelp, IdHelp, JsonOption
from api.cli.output import Output, print_json
from schema.kinds import ErrorType

if TYPE_CHECKING:
    from attribution.review.people import Named
    from schema.models import Failure
    from store.contract.protocol import GraphStore

commands = typer.Typer()
app = typer.Typer(no_args_is_help=True, help="Export and import people's verdicts as files of labels.")

_TYPES = f"The error type, in upper or lower case: {', '.join(ErrorType)}."


@command(commands)
async def verdict(
    place: Target,
    reference: Annotated[
        str,
        typer.Argument(metavar="ID", help=FailureHelp, show_default=False),
    ],
    error_type: Annotated[
        str | None,
        typer.Option("--type", metavar="TYPE", help=_TYPES, show_default=False),
    ] = None,
    given: Annotated[
        list[str] | None, typer.Argument(metavar="[TYPE]...", help="The same as --type.", show_default=False)
    ] = None,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="TEXT", help="The reason, in words.", show_default=False)
    ] = None,
    operation: Annotated[
        str | None,
        typer.Option(
            "--operation",
            metavar="ID",
            help=f"The operation at fault. {IdHelp} AnnotationError and LLMAsAJudgeError take none.",
            show_default=False,
        ),
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option(
            "--also",
            metavar="TYPE[:OPERATION]",
            help="Another acceptable verdict; may be repeated.",
            show_default=False,
        ),
    ] = None,
    author: Annotated[
        str | None,
        typer.Option("--author", metavar="NAME", help="Who says it. (default: command line)", show_default=False),
    ] = None,
    undo: Annotated[
        bool, typer.Option("--undo", help="Take back the author's last verdict: the one before is valid again.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Record why an answer is wrong. An earlier verdict of the same author is replaced, and stays in the history.

    `memtrace verdict ID --history` lists the history; it is short for `memtrace labels history ID`.
    """
    from functools import partial

    error_type = error_type or " ".join(given or []) or None
    from api.cli import documents
    from api.cli.find import find_failure
    from api.cli.keeper import keeper_door
    from api.cli.meant import Lead
    from api.cli.render import tables
    from api.cli.verdict_history import undo as take_back
    from attribution.review.people import Judgement, record_verdict
    from attribution.verdicts.failure_columns import FailureRow
    from attribution.verdicts.stored import by_id
    from schema.models import Operation, Variable

    if undo:
        if error_type or reason or operation or also:
            raise UsageError("--undo stands alone: leave out what is said")
        await take_back(place, reference, author, as_json)
        return
    line = f'memtrace verdict {reference} --type UpdateError --reason "the reason in words"'
    try:
        kind = None if error_type is None else error_type_of(error_type, "--type")
    except UsageError as error:
        raise UsageError(f"{error}. Say why the answer is wrong, such as: {line}") from None
    if kind is None or reason is None:
        line = line.replace("UpdateError", kind or "UpdateError")
        raise UsageError(f"say why the answer is wrong, with --type and --reason, such as: {line}")
    others = [split_also(one) for one in also or ()]
    async with keeper_door(place) as door:
        store = door.store
        failure = await find_failure(store, reference, lead=Lead.SURE)
        _, blamed = await named(store, failure, kind, operation)
        accepted = [await named(store, failure, *one) for one in others]
        judgement = Judgement(failure.id, kind, blamed, reason, also=tuple(accepted))
        said = await record_verdict(store, judgement, author or door.author, partial(door.entry, "recordVerdict"))
        questions = await by_id(store, Variable, [failure.question_id])
        operations = await by_id(store, Operation, [said.operation_id])
    if as_json:
        print_json(documents.attribution(said, failure, questions, operations))
    else:
        Output().show(tables.failure(FailureRow(failure, [said], operations=operations)))


def error_type_of(word: str, option: str) -> ErrorType:
    """The error type in an option."""
    from schema.error_type_names import error_type_meant

    try:
        return error_type_meant(word)
    except ValueError as error:
        with suppress(ValueError):
            return error_type_meant(f"{word} error")
        raise UsageError(f"{option}: {error}") from error


def split_also(text: str) -> tuple[ErrorType, str | None]:
    """The error type and the operation in `--also`."""
    word, _, operation = text.partition(":")
    return error_type_of(word, "--also"), operation or None


async def named(store: GraphStore, failure: Failure, kind: ErrorType, reference: str | None) -> Named:
    """An error type with the id of the operation that the reference means in the failure's trace."""
    from api.cli.find import find
    from api.cli.meant import Lead
    from schema.models import Operation

    return kind, None if reference is None else (
        await find(store, Operation, reference, failure.trace_id, Lead.SURE)
    ).id


@listing(app, Has.TRACE, Has.TEXT, Has.TIME, panel="Commands")
async def history(
    place: Target,
    wanted: Wanted,
    reference: Annotated[
        str | None, typer.Argument(metavar="[ID]", help=f"{FailureHelp} (default: all)", show_default=False)
    ] = None,
) -> None:
    """List how people's verdicts changed, the oldest first: on a failure, or on all of a trace or the project."""
    from api.cli.verdict_history import show_history

    await show_history(place, reference, wanted)


@command(app, "export", panel="Commands")
async def export_(
    place: Target,
    output: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write; - is standard output.")],
) -> None:
    """Write people's verdicts on the project's failures, one JSON object a line, with external ids."""
    from api.cli.render.text import counted
    from attribution.review.labelling import export_labels

    async with place.open(any_name=True) as store:
        labels = await export_labels(store)
    with whole_file(output) as out:
        out.writelines(label.line() for label in labels)
    note(f"{counted(len(labels), 'label')} written.")


@command(app, "import", panel="Commands")
async def import_(
    place: Target,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON Lines; - is standard input.", show_default=False)],
    author: Annotated[
        str | None,
        typer.Option(
            "--author",
            metavar="NAME",
            help="Who gave the labels that do not say it themselves. (default: command line)",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Store labels of a file as people's verdicts. Existing verdicts stay unchanged.

    A label whose trace, question, answer or operation is not in the project is listed and not stored. If a line is no
    label, the whole file is refused.
    """
    from dataclasses import asdict
    from functools import partial

    from api.cli.keeper import keeper_door
    from api.cli.render.text import counted
    from attribution.review.labelling import import_labels
    from attribution.review.labels import read_labels
    from schema.errors import InputError

    labels = read_labels(file)
    async with keeper_door(place) as door:
        entry_of = partial(door.entry, "importLabels")
        found = await import_labels(door.store, labels, author or door.author, str(file), entry_of)
    if as_json:
        print_json(asdict(found))
    else:
        there = f", {found.unchanged:,} of them unchanged" if found.unchanged else ""
        Output().lines(f"{counted(found.imported, 'label')} imported{there}.")
    for one in found.unmatched:
        note(f"{file}: line {one.line}: {one.reason}")
    if found.unmatched:
        note(f"{counted(len(found.unmatched), 'label')} could not be matched, and left out.")
    if not found.imported:
        raise InputError(str(file), "", "no label matches anything in this project")
