"""What a server and a model understand, kept beside the replies from run to run."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, ValidationError

from attribution.llm.transport.cache import content_hash
from attribution.llm.transport.dialect import NEWER_LIMIT, OLDER_LIMIT, Dialect, Format


@dataclass(frozen=True, slots=True)
class Abilities:
    """What is known of a server and a model. Before anything is known, everything is assumed.

    Attributes:
        dialect: how requests are written.
        calls_tools: whether the model, when it is offered tools, calls one: in the field of the protocol, or as text.
    """

    dialect: Dialect = field(default_factory=Dialect)
    calls_tools: bool = True


class _Kept(BaseModel):
    model_config = ConfigDict(extra="forbid")

    newer_limit: bool
    temperature: bool
    format: Format
    calls_tools: bool


def key_of(base_url: str, model: str) -> str:
    """The key under which a cache keeps the abilities of a server and a model."""
    return content_hash("abilities", base_url.rstrip("/"), model)


def packed(abilities: Abilities) -> bytes:
    """The abilities as bytes for a cache."""
    dialect = abilities.dialect
    kept = _Kept(
        newer_limit=dialect.output_limit == NEWER_LIMIT,
        temperature=dialect.temperature,
        format=dialect.format,
        calls_tools=abilities.calls_tools,
    )
    return kept.model_dump_json().encode()


def unpacked(data: bytes) -> Abilities:
    """The abilities in a cache; nothing is known if another version of MemTrace has written them in another form."""
    try:
        kept = _Kept.model_validate_json(data)
    except ValidationError:
        return Abilities()
    limit = NEWER_LIMIT if kept.newer_limit else OLDER_LIMIT
    return Abilities(Dialect(limit, kept.temperature, kept.format), kept.calls_tools)
