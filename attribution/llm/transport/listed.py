"""The models that a server lists at ``/v1/models``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from schema.outside_json import JsonError, read_json

_CONTEXTS = ("max_model_len", "context_length", "context_window", "n_ctx")
"""Names of a context's size: of vLLM, of routers of many models, and of llama.cpp (inside ``meta``)."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A listed model.

    Attributes:
        names: the model's name and aliases.
        context_tokens: size of its context; None if the server does not say.
    """

    names: tuple[str, ...]
    context_tokens: int | None


def read_listed(text: str) -> tuple[Listed, ...] | None:
    """The models in a body; None if the body is no list of models."""
    try:
        body = read_json(text)
    except JsonError:
        return None
    data = body.get("data") if isinstance(body, dict) else None
    if not isinstance(data, list):
        return None
    return tuple(_one(one) for one in data if isinstance(one, dict) and isinstance(one.get("id"), str))


def _one(one: dict[str, Any]) -> Listed:
    aliases = one.get("aliases")
    others = [name for name in aliases if isinstance(name, str)] if isinstance(aliases, list) else []
    meta = one.get("meta")
    places = [one, meta] if isinstance(meta, dict) else [one]
    sizes = [place.get(name) for place in places for name in _CONTEXTS]
    found = next((size for size in sizes if isinstance(size, int) and size > 0), None)
    return Listed(tuple(dict.fromkeys([one["id"], *others])), found)
