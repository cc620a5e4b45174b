"""What to change first: prompts, settings and data, by the failures that a change would affect."""

from enum import StrEnum

import msgspec
import strawberry

from api.errors import TooManyError
from api.graphql.scalars import JSON, ErrorType
from api.graphql.statistics import VerdictCount
from attribution.report import model
from attribution.report.changes import what_to_change
from attribution.verdicts.stored import every_failure
from store.contract.answers import Label
from store.contract.protocol import GraphStore

MAX_FAILURES = 10_000


@strawberry.enum(
    description="What can be changed. prompt: the text of a prompt; settings: how an operation is set up; data: "
    "questions and gold answers.",
    graphql_name_from="value",
)
class LeverKind(StrEnum):
    """See ``attribution.report.model.Lever``."""

    PROMPT = "prompt"
    SETTINGS = "settings"
    DATA = "data"


@strawberry.type(description="How many units a search would have to return to contain what it missed.")
class Reach:
    """The fields of ``attribution.report.model.Reach``."""

    setting: str | None = strawberry.field(
        description="The setting that says how many units it returns; null if no setting has this number."
    )
    now: int = strawberry.field(description="The number of units that it returned, at most.")
    k: int = strawberry.field(
        description="So many units would have contained what was missed in `finds` of `of` failures."
    )
    finds: int = strawberry.field(description="The number of failures whose missed unit has a rank up to `k`.")
    of: int = strawberry.field(description="The number of failures in which the search missed a unit.")


@strawberry.type(
    description="Something that can be changed, and the failures that a change would affect: failures whose blamed "
    "operation used the prompt or had the settings. Only a new run shows whether a change repairs them."
)
class Lever:
    """The fields of ``attribution.report.model.Lever``."""

    kind: LeverKind = strawberry.field(description="What can be changed.")
    label: str = strawberry.field(description="What can be changed, in words.")
    name: str | None = strawberry.field(
        description="The name of the prompt, or of the operation that has the settings; null for data."
    )
    failures: int = strawberry.field(description="The number of failures that a change would affect.")
    of: int = strawberry.field(description="The number of failures that have a verdict, abstentions included.")
    rate: float = strawberry.field(description="`failures` / `of`, from 0 to 1.")
    low: float = strawberry.field(description="The lower end of the 95 % interval of the rate (Wilson).")
    high: float = strawberry.field(description="The upper end of this interval.")
    settings: JSON = strawberry.field(
        description="For settings: the distinct values of each setting in these failures, as a list by name."
    )
    locations: list[str] = strawberry.field(
        description="Where the code of the blamed operations is, as recorded, the most frequent first.",
        metadata={"size": 3},
    )
    reach: Reach | None = strawberry.field(
        description="For the settings of a search: what another number of results would have done, if it is known."
    )
    error_types: list[VerdictCount] = strawberry.field(
        description="How many of the failures have each error type.", metadata={"size": 7}
    )


async def levers_of(store: GraphStore, source: str | None, trace_id: str | None, first: int) -> list[Lever]:
    """The levers that affect most failures, in descending order.

    Args:
        store: holds the failures.
        source: method or person whose verdicts count; see ``what_to_change``.
        trace_id: only failures of this trace; None for the whole project.
        first: how many at most.

    Raises:
        TooManyError: the project has too many failures for one answer.
    """
    if (await store.stats(trace_id)).labels.get(Label.FAILURE, 0) > MAX_FAILURES:
        instead = "name a trace, or use memtrace report" if trace_id is None else "use memtrace report"
        raise TooManyError("failures", MAX_FAILURES, instead)
    found = await what_to_change(store, await every_failure(store, trace_id), source)
    return [_lever(one) for one in found[:first]]


def _lever(found: model.Lever) -> Lever:
    kind, share = LeverKind(found.kind), found.share
    return Lever(
        kind=kind,
        label=share.label,
        name=_name(kind, share.key),
        failures=share.count,
        of=share.total,
        rate=share.rate,
        low=share.low,
        high=share.high,
        settings=JSON(msgspec.json.encode(found.settings).decode()),
        locations=found.locations,
        reach=Reach(**msgspec.structs.asdict(found.reach)) if found.reach else None,
        error_types=[
            VerdictCount(error_type=ErrorType(name), count=count) for name, count in found.error_types.items()
        ],
    )


def _name(kind: LeverKind, key: str) -> str | None:
    """The name in a lever's key: ``prompt:NAME``, or ``settings:KIND:NAME``."""
    return None if kind is LeverKind.DATA else key.split(":", 1 if kind is LeverKind.PROMPT else 2)[-1]
