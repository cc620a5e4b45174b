"""The memory of a trace: its units at a moment, with their sources and later versions."""

from collections.abc import Sequence
from typing import Annotated

import strawberry

from api.graphql.context import Info
from api.graphql.difference import Diff, diff_of
from api.graphql.pages import After, Connection, First, asked_page, connection, page_size
from api.graphql.refs import VariableRef
from api.graphql.resolving import id_meant
from attribution.needed.messages import speaker
from attribution.trace.memory_review import Held, review
from attribution.trace.remembered import Memory, Unit, Version, answers_on, messages_of, remembered
from schema import models
from schema.errors import InputError
from store.contract.answers import Label, Page
from store.contract.protocol import GraphStore

MAX_VERSIONS = 50

Moment = Annotated[
    int | None,
    strawberry.argument(
        description="The place of an operation (its `sequence`); the memory is shown as it was after this "
        "operation. Null is the end of the trace."
    ),
]


@strawberry.type(description="A message that a memory unit rests on, with its speaker.")
class Source:
    message: VariableRef = strawberry.field(description="The message.")
    speaker: str | None = strawberry.field(
        description="The speaker in lower case, if the first 500 characters of the message name a speaker by a key;"
        " else null."
    )


@strawberry.type(description="A version of a memory unit.")
class UnitVersion:
    """The fields of ``attribution.trace.remembered.Version``."""

    project_id: strawberry.Private[str]
    before: strawberry.Private[models.Variable | None]
    variable: VariableRef = strawberry.field(description="The variable.")
    made: int = strawberry.field(
        description="The place of the operation that made the version; -1 if it came from outside."
    )
    ended: int | None = strawberry.field(
        description="The place of the operation that ended the version, as a deletion does; null if none did."
    )
    sources: list[Source] = strawberry.field(
        description="The first 20 messages that this version rests on and earlier versions do not.",
        metadata={"size": 20},
    )

    @strawberry.field(
        description="The differences from the version before; null for the first version.", metadata={"cost": 1000}
    )
    async def change(self, info: Info) -> Diff | None:
        if self.before is None:
            return None
        return await diff_of(info, self.project_id, self.before.id, self.variable.id)


@strawberry.type(description="A memory unit: a thing that the agent remembers, in all its versions.")
class RememberedUnit:
    """The fields of ``attribution.trace.remembered.Unit``."""

    store: strawberry.Private[GraphStore]
    unit: strawberry.Private[Unit]
    current: VariableRef | None = strawberry.field(
        description="The version that was current at that moment; null if there was none, or if it had been ended."
    )
    made: int | None = strawberry.field(
        description="The place of the operation that made this version; -1 if it came from outside."
    )
    version_count: int = strawberry.field(description="How many versions had been made by that moment.")

    @strawberry.field(
        description="All versions of the unit, the oldest first. Later versions are included.",
        metadata={"cost": 100, "size": "first"},
    )
    async def versions(
        self,
        info: Info,
        first: Annotated[int, strawberry.argument(description=f"How many at most, 1 to {MAX_VERSIONS}.")] = 20,
    ) -> list[UnitVersion]:
        shown = self.unit.versions[: page_size(first, MAX_VERSIONS)]
        seconds = info.context.platform.settings.request_seconds / 2
        behind = await messages_of(self.store, shown, seconds)
        before = [None, *(one.variable for one in shown)]
        return [
            UnitVersion(
                project_id=self.store.project_id,
                before=previous,
                variable=one.variable,
                made=one.made,
                ended=one.ended,
                sources=[Source(message=message, speaker=speaker(message.preview)) for message in messages[:20]],
            )
            for one, previous, messages in zip(shown, before, behind, strict=False)
        ]

    @strawberry.field(
        description="The answers that rest on a version of the unit, in the order of the trace.",
        metadata={"cost": 200, "size": "first"},
    )
    async def answers(self, info: Info, first: First = 20) -> list[VariableRef]:
        size = page_size(first)
        seconds = info.context.platform.settings.request_seconds / 2
        return (await answers_on(self.store, self.unit, seconds))[:size]


@strawberry.type(description="Memory units that belong together.")
class UnitGroup:
    count: int = strawberry.field(description="How many units.")
    units: list[RememberedUnit] = strawberry.field(description="The first of them.", metadata={"size": 10})


@strawberry.type(description="What stands out in a memory.")
class MemoryReview:
    """The fields of ``attribution.trace.memory_review.Review``."""

    has_reads: bool = strawberry.field(
        description="Whether the recording says which units were read; without, it is not known which were not."
    )
    unread_count: int = strawberry.field(description="How many units no operation of the whole trace has read.")
    unread: list[RememberedUnit] = strawberry.field(description="The first of these.", metadata={"size": 10})
    alike_count: int = strawberry.field(description="How many groups of units say almost the same.")
    alike: list[UnitGroup] = strawberry.field(description="The first of these groups.", metadata={"size": 10})
    conflict_count: int = strawberry.field(
        description="How many pairs of units say the same with other numbers, days or months, or one denies the other."
    )
    conflicts: list[UnitGroup] = strawberry.field(description="The first of these pairs.", metadata={"size": 10})
    changed_count: int = strawberry.field(description="How many units have several versions.")
    changed: list[RememberedUnit] = strawberry.field(
        description="The first changed units, the unit with most versions first.", metadata={"size": 10}
    )


@strawberry.type(description="The units of a memory at a moment.")
class MemoryMoment:
    """The fields of ``attribution.trace.remembered.Memory``."""

    store: strawberry.Private[GraphStore]
    memory: strawberry.Private[Memory]
    moment: strawberry.Private[int | None]
    held: strawberry.Private[list[tuple[Unit, Version]]]
    count: int = strawberry.field(description="The number of units at that moment.")
    ended: int = strawberry.field(description="The number of units that had been ended by that moment.")

    @strawberry.field(
        description="What stands out among the units at that moment.", metadata={"cost": 200, "size": "first"}
    )
    def review(self, first: First = 10) -> MemoryReview:
        found, most = review(self.memory, self.moment), page_size(first)

        def units(some: Sequence[Held]) -> list[RememberedUnit]:
            return [self._unit(unit, version) for unit, version in some[:most]]

        return MemoryReview(
            has_reads=found.has_reads,
            unread_count=len(found.unread),
            unread=units(found.unread),
            alike_count=len(found.alike),
            alike=[UnitGroup(count=len(group), units=units(group)) for group in found.alike[:most]],
            conflict_count=len(found.conflicts),
            conflicts=[UnitGroup(count=2, units=units(pair)) for pair in found.conflicts[:most]],
            changed_count=len(found.changed),
            changed=units(found.changed),
        )

    @strawberry.field(description="The units at that moment, ordered by their beginning.")
    def units(self, info: Info, first: First = 20, after: After = None) -> Connection[RememberedUnit]:
        size, cursor = asked_page(info, first, after)
        start = offset_of(cursor)
        shown = self.held[start : start + size]
        more = str(start + size) if start + size < len(self.held) else None
        return connection(info, Page([self._unit(unit, version) for unit, version in shown], more))

    @strawberry.field(
        description="The unit that has a variable among its versions, even if the memory did not hold the unit at "
        "that moment; null if the variable is not a version of a unit."
    )
    async def unit(
        self,
        reference: Annotated[
            str, strawberry.argument(description="A version of the unit: an id, a prefix, or an external id.")
        ],
    ) -> RememberedUnit | None:
        found = self.memory.unit_of(await id_meant(self.store, Label.VARIABLE, reference))
        return None if found is None else self._unit(found, found.at(self.moment))

    def _unit(self, unit: Unit, version: Version | None) -> RememberedUnit:
        return RememberedUnit(
            store=self.store,
            unit=unit,
            current=version.variable if version else None,
            made=version.made if version else None,
            version_count=len(unit.known_at(self.moment)),
        )


async def memory_of(info: Info, project_id: str, trace_id: str, moment: int | None) -> MemoryMoment:
    """The memory of a trace at a moment.

    Raises:
        InputError: the moment is before the trace begins.
    """
    if moment is not None and moment < -1:
        raise InputError("asOf", "", f"{moment} is before the first operation, which has the place 0")
    store = info.context.door(project_id).store
    memory = await remembered(store, trace_id)
    return MemoryMoment(
        store=store,
        memory=memory,
        moment=moment,
        held=memory.at(moment),
        count=len(memory.at(moment)),
        ended=memory.ended_at(moment),
    )


def offset_of(cursor: str | None) -> int:
    """The offset where a page begins, for lists that are computed for each request.

    Raises:
        InputError: the text is not a cursor of this list.
    """
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 10):
        raise InputError("cursor", "", f"{cursor[:80]!r} is not a cursor of this list")
    return int(cursor)
