"""The value of ``-o`` where it names a format, as in kubectl: ``-o json`` prints JSON and makes no such file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from api.cli.errors import UsageError, note

_OUTPUT = {"-o", "--output"}
_FORMATS = {"json", "jsonl", "ndjson", "csv", "md", "markdown", "table", "text", "plain"}
_UNKNOWN = {"yaml", "yml", "xml", "tsv", "html", "toml", "xlsx", "excel", "parquet", "jsonpath"}
_TEMPLATES = {"jsonpath", "jsonpath-as-json", "custom-columns", "go-template", "template", "jq"}
_COLUMNS = "--columns id,question, as CSV or with --json"
_WHOLE = {"wide"}
_NAMES = {"name", "id", "ids"}
_OWN = {"export"}
"""Commands whose file may have any name."""


def formats_of_output(command: str, words: Sequence[str], options: Mapping[str, bool]) -> list[str]:
    """The words with ``--format json`` in place of ``-o json``; every other value of ``-o`` is a file.

    Args:
        command: the name of the command.
        words: what follows the command.
        options: the names of the command's options, and whether each has a value.

    Raises:
        UsageError: the value names a format that the command does not have.
    """
    result = list(words)
    if command in _OWN or not {"--json", "--format"} & options.keys():
        return result
    end = result.index("--") if "--" in result else len(result)
    for at, word in enumerate(result[:end]):
        name, equals, value = word.partition("=")
        if name not in _OUTPUT or (at and options.get(result[at - 1])):
            continue
        if not equals:
            value = result[at + 1] if at + 1 < end else ""
        meant = _meant(name, value.casefold(), options)
        if meant is not None:
            result[at : at + (1 if equals else 2)] = meant
            return result
    return result


def _meant(name: str, value: str, options: Mapping[str, bool]) -> list[str] | None:
    """The option that a format as the value of ``-o`` means; None if the value is a file."""
    if value in _FORMATS:
        note(f"{name} {value} is read as a format; a file of this name: {name} ./{value}")
        return ["--format", value]
    if value.partition("=")[0] in _TEMPLATES and "=" in value:
        raise UsageError(f"{name} {value}: some columns are {_COLUMNS}; one a line without its name: --ids")
    if value in _WHOLE:
        note(f"{name} {value} is not needed: everything is shown; --json has every field.")
        return []
    if value in _NAMES and "--ids" in options:
        return ["--ids"]
    if value in _UNKNOWN:
        known = "json, jsonl, csv, markdown" if "--ids" in options else "json"
        raise UsageError(
            f"{name} {value}: there is no such format; there is {known}: {name} json. A file of this name: "
            f"{name} ./{value}"
        )
    return None
