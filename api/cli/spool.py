"""`memtrace spool`: events that applications stored on disk while the platform was away."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from api.cli.context import Target
from api.cli.errors import ExitCode, UsageError, complain, note
from api.cli.options import JsonOption, ProjectOption
from api.cli.output import Output, print_json
from schema.errors import StoreError

if TYPE_CHECKING:
    from memtrace.exporters.protocol import FlushResult

app = typer.Typer()

_NAMED = 3
"""Folders of other destinations that are named after sending."""

SpoolOption = Annotated[
    Path | None,
    typer.Option(
        "--spool",
        metavar="DIR",
        help="The folder where the applications keep events. (env: MEMTRACE_SPOOL; default: in the user's "
        "state folder)",
        show_default=False,
    ),
]


@app.callback(invoke_without_command=True)
def spool(
    context: typer.Context,
    endpoint: Annotated[
        str | None,
        typer.Option(
            "--endpoint",
            metavar="URL",
            help="The platform's address, written exactly as in the application's settings. (env: MEMTRACE_ENDPOINT)",
            show_default=False,
        ),
    ] = None,
    api_key_file: Annotated[
        Path | None,
        typer.Option(
            "--api-key-file",
            metavar="FILE",
            help="A file that holds the application's key. (env: MEMTRACE_API_KEY holds the key itself)",
            show_default=False,
        ),
    ] = None,
    project: ProjectOption = None,
    spool: SpoolOption = None,
    as_json: JsonOption = False,
) -> None:
    """Send the events that applications kept on disk while the platform could not be reached.

    Give the endpoint, key and project of the application. Events of each combination are in a folder of their own, and
    can't go to another project. Without --project and MEMTRACE_PROJECT, events go to the key's project.

    Exit codes: 0 if all events were sent, 4 if the platform refused some, 1 if some still wait, 5 if the platform can't
    be reached.
    """
    if context.invoked_subcommand is not None:
        return
    address = _address(endpoint)
    key = _key(api_key_file)
    place: Target = context.find_root().obj or Target()
    named = project or place.project or os.environ.get("MEMTRACE_PROJECT") or None
    try:
        _try(address, key, named)
    except StoreError as error:
        left = sum(one["events"] for one in _waiting(_base(spool)))
        raise StoreError(f"{error}; {left:,} events still wait") from error

    from memtrace.exporters.http import replay
    from memtrace.exporters.spool import folder_name

    folder = spool or os.environ.get("MEMTRACE_SPOOL") or None
    result = replay(address, key, named, folder)
    if as_json:
        names = ("sent", "spooled", "dropped", "rejected", "damaged")
        print_json({name: getattr(result, name) for name in names})
    else:
        Output().lines(
            f"{result.sent:,} events sent, {result.spooled:,} still wait, {result.dropped:,} dropped, "
            f"{result.rejected:,} rejected."
        )
    _end(result, _waiting(_base(spool)), _base(spool) / folder_name(address, named or key))


@app.command("list")
def list_spools(spool: SpoolOption = None, as_json: JsonOption = False) -> None:
    """List the events that wait on disk.

    There is a folder for each platform and project, or key if the application names no project; its name is a digest.
    Of a key only the part that is no secret is shown. Lines that a full disk or a crash cut short are counted as
    damaged, and kept in the file damaged.txt.
    """
    found = _waiting(_base(spool))
    if as_json:
        print_json(found)
    elif not found:
        Output().lines("Nothing waits.")
    else:
        _show(found)


def _address(endpoint: str | None) -> str:
    """The platform's address.

    Raises:
        UsageError: the address is missing or malformed.
    """
    address = endpoint or os.environ.get("MEMTRACE_ENDPOINT")
    if not address:
        raise UsageError("say where the platform is: --endpoint URL or MEMTRACE_ENDPOINT")
    try:
        parts = urlsplit(address)
    except ValueError:
        raise UsageError("--endpoint: this is not a URL") from None
    if "@" in parts.netloc:
        # The text before the @ may be a password, so the message does not quote it.
        raise UsageError(
            "--endpoint: write it without user and password; the key comes from a file or MEMTRACE_API_KEY"
        )
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise UsageError(f"--endpoint: {address!r} is no address such as https://host:port")
    return address


def _key(file: Path | None) -> str | None:
    """The application's key, from a file or the environment. Arguments would show it in the list of processes.

    Raises:
        UsageError: the file can't be read, or is empty.
    """
    if file is None:
        return os.environ.get("MEMTRACE_API_KEY") or None
    try:
        key = file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"--api-key-file: {file} can't be read: {reason}") from error
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise UsageError(f"--api-key-file: {file} holds no key")
    return key


def _try(address: str, key: str | None, project: str | None) -> None:
    """Ask the platform whether it accepts events with this key, because refused events are deleted.

    Raises:
        StoreError: the platform can't be reached, or refuses the key.
    """
    import httpx

    headers = {"Content-Type": "application/x-ndjson"} | ({"Authorization": f"Bearer {key}"} if key else {})
    url = f"{address.rstrip('/')}/v1/events"
    try:
        answer = httpx.post(url, params={"project": project} if project else {}, headers=headers, content=b"")
    except (httpx.HTTPError, OSError) as error:
        raise StoreError(
            f"{address}: the platform can't be reached ({type(error).__name__}); nothing was sent"
        ) from error
    if not answer.is_success:
        raise StoreError(f"{address}: the platform takes no events: {_problem(answer)}; nothing was sent")


def _problem(answer: Any) -> str:
    try:
        body = answer.json()
    except ValueError:
        body = None
    detail = (body.get("detail") or body.get("title")) if isinstance(body, dict) else None
    return f"status {answer.status_code}" + (f", {str(detail)[:300]}" if detail else "")


def _end(result: FlushResult, waiting: list[dict[str, Any]], folder: Path) -> None:
    """Report the rest, also by the exit code. Damaged lines can never be sent, so they are only reported."""
    from memtrace.exporters.spool import DAMAGED

    if result.damaged:
        note(
            f"{result.damaged:,} lines are no events, for a full disk or a crash cut them short; "
            f"they are set aside in {folder / DAMAGED}"
        )
    others = [one for one in waiting if one["events"] and one["folder"] != str(folder)]
    if others:
        elsewhere = sum(one["events"] for one in others)
        named = "; ".join(_purpose(one) for one in others[:_NAMED]) + (" …" if len(others) > _NAMED else "")
        note(f"{elsewhere:,} events wait for other platforms, projects or keys ({named}): see `memtrace spool list`.")
    if result.spooled:
        complain("not all could be sent: the platform went away, or a running application has them in hand")
        raise typer.Exit(ExitCode.FAILED)
    if result.rejected:
        complain("the platform refused events; they are kept with the reasons in rejected.jsonl, beside the others")
        raise typer.Exit(ExitCode.BAD_INPUT)


def _base(spool: Path | None) -> Path:
    """The folder with one folder for each platform and project."""
    from memtrace.exporters.spool import default_directory

    said = spool or os.environ.get("MEMTRACE_SPOOL")
    return Path(said) if said else default_directory("", None).parent


def _waiting(base: Path) -> list[dict[str, Any]]:
    """The waiting events by folder, the longest wait first; then folders with damaged lines only."""
    from memtrace.exporters import purpose, waiting
    from memtrace.exporters.spool import DAMAGED

    found = []
    for folder in sorted(base.iterdir()) if base.is_dir() else []:
        waiting.adopt(folder, waiting.rename)
        contents = [segment for path in folder.glob("*.ndjson") if (segment := _segment(path)) is not None]
        aside = folder / DAMAGED
        damaged = aside.read_bytes().count(b"\n") if aside.is_file() else 0
        if contents or damaged:
            said = purpose.read(folder)
            found.append(
                {
                    "endpoint": said and said.endpoint,
                    "project": said and said.project,
                    "key": said and said.key,
                    "folder": str(folder),
                    "events": sum(events for events, _, _ in contents),
                    "bytes": sum(size for _, size, _ in contents),
                    "oldest": min((oldest for _, _, oldest in contents), default=None),
                    "damaged": damaged,
                }
            )
    return sorted(found, key=lambda one: (one["oldest"] is None, str(one["oldest"])))


def _segment(path: Path) -> tuple[int, int, str] | None:
    """Number of events, bytes, and start time (from the file's name); None for a file that has just been sent."""
    from datetime import UTC, datetime

    from schema.models import format_time

    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    begun = datetime.fromtimestamp(int(path.name.partition("-")[0]) // 10**9, UTC)
    return data.count(b"\n"), len(data), format_time(begun)


def _purpose(one: dict[str, Any]) -> str:
    """The platform, and the project or key, of a folder of events."""
    from api.cli.render.text import one_line

    if one["endpoint"] is None:
        return "unknown: the folder does not say it"
    owner = [f"project {one['project']}"] if one["project"] else []
    owner += [f"key {one['key']}_…"] if one["key"] else []
    return one_line(", ".join([one["endpoint"], *(owner or ["no API key"])]), 200)


def _show(found: list[dict[str, Any]]) -> None:
    from api.cli.render.tables import sheet
    from api.cli.render.text import counted

    out = Output()
    for number, one in enumerate(found):
        if number:
            out.lines("")
        waiting = f"{counted(one['events'], 'event')} since {one['oldest'][:19]}" if one["oldest"] else "no event"
        out.show(
            sheet(
                (
                    ("to be sent to", _purpose(one)),
                    ("waiting", f"{waiting} ({one['bytes']:,} bytes)"),
                    ("damaged", counted(one["damaged"], "line") if one["damaged"] else None),
                    ("folder", one["folder"]),
                )
            )
        )
