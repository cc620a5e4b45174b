"""The ids in what another command printed, which stands on standard input."""

from __future__ import annotations

import re

from api.cli.errors import UsageError


def ids_in(text: str) -> list[str]:
    """The ids in what a command printed: a JSON list, CSV, or a table, whose ids come first."""
    if text.lstrip().startswith("["):
        from schema.outside_json import JsonError, read_json

        try:
            found = read_json(text)
        except JsonError as error:
            raise UsageError(f"- reads ids from standard input, and this is no JSON list: {error}") from None
        return [str(one["id"]) for one in found if isinstance(one, dict) and "id" in one]
    ids = [re.split(r"[\s,]+", line.strip())[0] for line in text.splitlines() if line.strip()]
    return ids[1:] if ids[:1] == ["id"] else ids
