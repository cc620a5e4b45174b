"""Commands that report on failures."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.context import Target, command, default_command
from api.cli.errors import UsageError, note
from api.cli.files import whole_file
from api.cli.options import JsonOption, SourceOption
from api.cli.report_form import Form, FormOption, OutputOption, form_of
from api.cli.times import SinceOption, UntilOption, span
from schema.errors import MemTraceError, NotFoundError

if TYPE_CHECKING:
    from attribution.report.compare import Comparison
    from attribution.report.model import ReportData
    from schema.models import Failure
    from store.contract.answers import Span
    from store.contract.protocol import GraphStore

app = typer.Typer(help="Make reports on failures: what goes wrong, how often, where, and what to change first.")


@default_command(app)
async def report(
    place: Target,
    trace: Annotated[
        list[str] | None,
        typer.Option(
            "--trace", metavar="TRACE", help="Only failures of this trace; may be repeated.", show_default=False
        ),
    ] = None,
    failure: Annotated[
        list[str] | None,
        typer.Option("--failure", metavar="ID", help="Only this failure; may be repeated.", show_default=False),
    ] = None,
    source: SourceOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    summary: Annotated[
        bool | None,
        typer.Option(
            "--summary/--no-summary",
            help="Add a summary by a language model. (default: if MEMTRACE_LLM_BASE_URL is set)",
            show_default=False,
        ),
    ] = None,
    form: FormOption = None,
    output: OutputOption = None,
    browser: Annotated[
        bool, typer.Option("--open", help="Open the report in the browser, as a web page: report.html, or that of -o.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Report on the failures of the project: what goes wrong, how often, where, and what to change first.

    It counts stored verdicts, so run `memtrace attribute` first.
    """
    if browser:
        form, output = _page(form, output, as_json)
    wanted, when = form_of(form, output, as_json), span(since, until)
    async with place.open() as store:
        data = await report_data(store, trace or [], failure or [], source, when)
    data = await _summarised(data, summary)
    missing = data.totals.without_verdict
    if missing:
        note(f"{missing:,} of {data.totals.failures:,} failures have no verdict; memtrace attribute makes them.")
    write(data, wanted, output)
    if browser and output:
        import webbrowser

        note(f"The report is in {output}.")
        webbrowser.open(output.resolve().as_uri())


def _page(form: Form | None, output: Path | None, as_json: bool) -> tuple[Form, Path]:
    """The format and the file of a report that the browser shows.

    Raises:
        UsageError: another format, or standard output, is asked for.
    """
    said = form or (form_of(None, output, False) if output else Form.HTML)
    if as_json or said is not Form.HTML or str(output) == "-":
        raise UsageError("--open shows a web page, from a file: memtrace report --open -o page.html")
    return Form.HTML, output or Path("report.html")


@command(app, name="compare", panel="Commands")
async def compare_reports(
    place: Target,
    before: Annotated[str, typer.Argument(metavar="A", help="The earlier report, as JSON.", show_default=False)],
    after: Annotated[str, typer.Argument(metavar="B", help="The later report, as JSON.", show_default=False)],
    form: FormOption = None,
    output: OutputOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare two reports: the same as `memtrace compare`."""
    from api.cli.compare import show_comparison

    await show_comparison(place, before, after, None, form, output, as_json)


async def report_data(
    store: GraphStore, traces: list[str], ids: list[str], source: str | None, when: Span | None = None
) -> ReportData:
    """The report on the failures with these ids, or of these traces, or of the project, recorded in this time."""
    from attribution.report.make import make
    from store.contract.answers import ALWAYS

    when = when or ALWAYS
    if ids and when != ALWAYS:
        raise UsageError("--failure names failures one by one: leave out --since and --until")
    trace_ids = await _traces(store, traces)
    failures = await _failures(store, trace_ids, ids, when)
    if source is not None:
        await _check_source(store, failures, source)
    return await make(store, failures, source, is_selection=bool(ids) or when != ALWAYS, trace_ids=trace_ids)


async def _traces(store: GraphStore, traces: list[str]) -> list[str]:
    from api.cli.find import find_trace_id

    found = [await find_trace_id(store, reference) for reference in traces]
    return list(dict.fromkeys(id_ for id_ in found if id_ is not None))


async def _failures(store: GraphStore, trace_ids: list[str], ids: list[str], when: Span) -> list[Failure]:
    from api.cli.find import find_failures
    from attribution.verdicts.stored import every_failure
    from store.contract.answers import FailureFilter

    wanted = FailureFilter(since=when.since, until=when.until)
    if ids:
        chosen = await find_failures(store, ids)
        if trace_ids:
            chosen = [failure for failure in chosen if failure.trace_id in trace_ids]
    else:
        named: list[str | None] = [*trace_ids] or [None]
        chosen = [one for id_ in named for one in await every_failure(store, id_, wanted=wanted)]
    return list({failure.id: failure for failure in chosen}.values())


async def _check_source(store: GraphStore, failures: list[Failure], source: str) -> None:
    from attribution.report.make import known_sources

    known = await known_sources(store, failures)
    if source not in known:
        note(f"There are verdicts of {', '.join(known)}." if known else "There are no verdicts.")
        raise NotFoundError(source, "source")


async def _summarised(data: ReportData, asked: bool | None) -> ReportData:
    """The report, with a summary if the options ask for one and a model can write it."""
    if not (bool(os.environ.get("MEMTRACE_LLM_BASE_URL")) if asked is None else asked):
        return data
    from msgspec.structs import replace

    from attribution.llm.transport.cache import FileCache, default_folder
    from attribution.llm.transport.client import LlmClient
    from attribution.llm.transport.settings import LlmSettings
    from attribution.report.summary import summarise

    settings = LlmSettings.load()
    try:
        async with LlmClient(settings, FileCache(default_folder())) as client:
            return replace(data, summary=await summarise(data, client))
    except MemTraceError as error:
        if asked:
            raise
        note(f"There is no summary: {error}")
        return data


def write(found: ReportData | Comparison, form: Form, output: Path | None) -> None:
    """Write a report or a comparison to a file, or to standard output."""
    with whole_file(output) as out:
        out.write(_rendered(found, form))


def _rendered(found: ReportData | Comparison, form: Form) -> bytes:
    import msgspec

    from attribution.report import html, markdown
    from attribution.report.model import ReportData

    if form is Form.JSON:
        return msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n"
    renderer: Any = html if form is Form.HTML else markdown
    text: str = renderer.render(found) if isinstance(found, ReportData) else renderer.render_comparison(found)
    return text.encode()
