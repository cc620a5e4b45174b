"""`memtrace spool`: events that applications kept on disk while the platform was away."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from api.cli.context import Place
from api.cli.errors import ExitCode, UsageError, complain, note
from api.cli.options import JsonOption, ProjectOption
from api.cli.output import Output, print_json
from schema.errors import StoreError

if TYPE_CHECKING:
    from memtrace.exporters.protocol import FlushResult

app = typer.Typer()

_NUMBERS = ("events", "bytes", "damaged")

SpoolOption = Annotated[
    Path | None,
    typer.Option(
        "--spool",
        metavar="DIR",
        help="Where the applications keep events. (env: MEMTRACE_SPOOL; default: in the user's state folder)",
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
            help="The platform, written as the application has it. (env: MEMTRACE_ENDPOINT)",
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
    """Send what applications kept on disk while the platform was away.

    Endpoint, key and project must be those of the application, which has a folder of its own for each: nothing goes to
    another project. Without --project and MEMTRACE_PROJECT, events go to the key's own project. Ends with 0 when all
    events were sent, with 4 when the platform refused some, with 1 when some still wait, and with 5
    when the platform can't be reached at all.
    """
    if context.invoked_subcommand is not None:
        return
    address = _address(endpoint)
    key = _key(api_key_file)
    place: Place = context.find_root().obj or Place()
    named = project or place.project or os.environ.get("MEMTRACE_PROJECT") or None
    _try(address, key, named)

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
    """List what waits: a folder for each platform and project (or key), whose names only the applications know.

    Lines that are no events, for a full disk or a crash cut them short, are counted as damaged; damaged.txt beside the
    others has them.
    """
    found = _waiting(_base(spool))
    if as_json:
        print_json(found)
    elif not found:
        Output().lines("Nothing waits.")
    else:
        _show(found)


def _address(endpoint: str | None) -> str:
    """Where to send.

    Raises:
        UsageError: there is no address, or it is none.
    """
    address = endpoint or os.environ.get("MEMTRACE_ENDPOINT")
    if not address:
        raise UsageError("say where the platform is: --endpoint URL or MEMTRACE_ENDPOINT")
    try:
        parts = urlsplit(address)
    except ValueError:
        raise UsageError("--endpoint: this is not a URL") from None
    if "@" in parts.netloc:
        # Not repeated: what stands before the @ may be a password.
        raise UsageError(
            "--endpoint: write it without user and password; the key comes from a file or MEMTRACE_API_KEY"
        )
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise UsageError(f"--endpoint: {address!r} is no address such as https://host:port")
    return address


def _key(file: Path | None) -> str | None:
    """The key, which never stands in an argument: the list of processes shows those.

    Raises:
        UsageError: the file can't be read, or holds nothing.
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
    """Ask first whether the platform takes events from us: what it refuses is not kept to be sent again.

    Raises:
        StoreError: it can't be reached, or does not take them.
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
    """Say what is left, by an exit code too. Lines that are no events can't be sent by anybody: they are only told."""
    from memtrace.exporters.aside import DAMAGED

    if result.damaged:
        note(
            f"{result.damaged:,} lines are no events, for a full disk or a crash cut them short; "
            f"they are set aside in {folder / DAMAGED}"
        )
    elsewhere = sum(one["events"] for one in waiting) - result.spooled
    if elsewhere > 0:
        note(f"{elsewhere:,} events wait for other platforms, projects or keys: see `memtrace spool list`.")
    if result.spooled:
        complain("not all could be sent: the platform went away, or a running application has them in hand")
        raise typer.Exit(ExitCode.FAILED)
    if result.rejected:
        complain("the platform refused events; they are kept with the reasons in rejected.jsonl, beside the others")
        raise typer.Exit(ExitCode.BAD_INPUT)


def _base(spool: Path | None) -> Path:
    """The folder that holds a folder for each platform and project."""
    from memtrace.exporters.spool import default_directory

    said = spool or os.environ.get("MEMTRACE_SPOOL")
    return Path(said) if said else default_directory("", None).parent


def _waiting(base: Path) -> list[dict[str, Any]]:
    """What waits in each folder, the longest wait first; then folders that have only damaged lines."""
    from memtrace.exporters.aside import DAMAGED

    found = []
    for folder in sorted(base.iterdir()) if base.is_dir() else []:
        contents = [segment for path in folder.glob("*.ndjson") if (segment := _segment(path)) is not None]
        aside = folder / DAMAGED
        damaged = aside.read_bytes().count(b"\n") if aside.is_file() else 0
        if contents or damaged:
            found.append(
                {
                    "folder": str(folder),
                    "events": sum(events for events, _, _ in contents),
                    "bytes": sum(size for _, size, _ in contents),
                    "oldest": min((oldest for _, _, oldest in contents), default=None),
                    "damaged": damaged,
                }
            )
    return sorted(found, key=lambda one: (one["oldest"] is None, str(one["oldest"])))


def _segment(path: Path) -> tuple[int, int, str] | None:
    """Events, bytes, and when it was begun, which stands in its name; None where it has just been sent."""
    from datetime import UTC, datetime

    from schema.models import format_time

    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    begun = datetime.fromtimestamp(int(path.name.partition("-")[0]) // 10**9, UTC)
    return data.count(b"\n"), len(data), format_time(begun)


def _show(found: list[dict[str, Any]]) -> None:
    from rich.text import Text

    from api.cli.render.tables import table

    rows = [
        [Text(cell) for cell in (*(f"{one[name]:,}" for name in _NUMBERS), (one["oldest"] or "")[:19], one["folder"])]
        for one in found
    ]
    Output().show(table((*_NUMBERS, "oldest", "folder"), rows, wide="folder"))
