"""`memtrace config`: which settings are in force, and where each comes from."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.context import Target, command
from api.cli.errors import UsageError, note
from api.cli.options import JsonOption
from api.cli.output import Output, print_json

if TYPE_CHECKING:
    from collections.abc import Mapping

commands = typer.Typer()

_CHANGES = {"set", "unset", "add", "edit", "change", "reset"}
_ALWAYS = {"store", "values", "project", "host", "port", "llm_base_url", "llm_model"}
"""Settings that are listed even if nobody set them."""


@command(commands)
async def config(
    place: Target,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]", help="Only this setting, such as store.", show_default=False)
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Also the settings that nobody changed.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the settings in force, and whether an option, the environment, a file or nobody set each.

    To change one, set its environment variable, or write it into the file that MEMTRACE_CONFIG names
    (docs/server.md). Secrets are never shown.
    """
    found = _in_force(place)
    name = _one_name(words or [])
    if name is not None:
        plain = name.removeprefix("MEMTRACE_").casefold().replace("-", "_").replace(".", "_")
        found = [one for one in found if one["name"] == plain]
        if not found:
            raise UsageError(f"there is no setting {name!r}: `memtrace config --all` lists them")
    elif not all_ and not as_json:
        found = [one for one in found if one["from"] != "default" or one["name"] in _ALWAYS]
    if as_json:
        print_json(found)
        return
    from rich.text import Text

    from api.cli.render.tables import table

    rows = [[Text(str(one[key])) for key in ("name", "shown", "from", "variable")] for one in map(_shown, found)]
    Output().show(table(("setting", "value", "from", "variable"), rows, wide="value"))
    if name is None and not all_:
        note("Settings that nobody changed are left out: memtrace config --all")


def _one_name(words: list[str]) -> str | None:
    """The name of the only setting that is asked for; None for all.

    Raises:
        UsageError: the words ask for a change, or name several settings.
    """
    if words and words[0] in _CHANGES:
        name = (words[1].partition("=")[0] if words[1:] else "NAME").upper().replace(".", "_").removeprefix("MEMTRACE_")
        value = " ".join(words[2:]) or (words[1].partition("=")[2] if words[1:] else "") or "VALUE"
        raise UsageError(
            f"settings stand in the environment, or in the file that MEMTRACE_CONFIG names: "
            f"export MEMTRACE_{name}={shlex.quote(value)}; docs/server.md lists them"
        )
    if len(words) > 1:
        raise UsageError("`memtrace config` shows one setting by its name, or all: `memtrace config --all`")
    return words[0] if words else None


def _shown(one: Mapping[str, Any]) -> dict[str, Any]:
    return {**one, "shown": "" if one["value"] is None else one["value"]}


def _in_force(place: Target) -> list[dict[str, Any]]:
    """Name, value, origin and environment variable of each setting.

    Raises:
        UsageError: a setting can't be used.
    """
    import tomllib

    from api.settings.loading import CONFIG_VARIABLE, load_settings
    from api.settings.model import Settings
    from schema.errors import InputError

    try:
        settings = load_settings(None, {"store": place.store, "values": place.values})
    except InputError as error:
        raise UsageError(str(error)) from None
    file = os.environ.get(CONFIG_VARIABLE)
    in_file = tomllib.loads(Path(file).read_text("utf-8")) if file else {}
    said = {"store": place.store, "values": place.values, "project": place.project}
    found = [_one("project", place.any_project_id, said, in_file)]
    found += [_one(name, getattr(settings, name), said, in_file) for name in Settings.model_fields]
    found += [
        _one("llm_base_url", _without_user(os.environ.get("MEMTRACE_LLM_BASE_URL")), said, {}),
        _one("llm_model", os.environ.get("MEMTRACE_LLM_MODEL") or None, said, {}),
    ]
    return found


def _one(name: str, value: Any, said: Mapping[str, Any], in_file: Mapping[str, Any]) -> dict[str, Any]:
    variable = f"MEMTRACE_{name.upper()}"
    if said.get(name):
        origin = "option"
    elif os.environ.get(variable):
        origin = "environment"
    else:
        origin = "file" if name in in_file else "default"
    return {"name": name, "value": _plain(name, value), "from": origin, "variable": variable}


def _plain(name: str, value: Any) -> Any:
    """What may be shown of a value: of secrets that they are set, of further stores their names."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if hasattr(value, "get_secret_value") or "password" in name or "secret" in name:
        return "(set)"
    if isinstance(value, dict):
        return ", ".join(value) or None
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or None
    return _without_user(str(value))


def _without_user(address: str | None) -> str | None:
    """An address without the name and password of a user, and without its query, which may have a key."""
    if not address or "://" not in address:
        return address or None
    scheme, _, rest = address.partition("://")
    rest, asked, _ = rest.partition("?")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}{'?…' if asked else ''}"
