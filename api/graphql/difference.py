"""Comparing the values of two variables, in a thread of its own and within bounds for each operation."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

import strawberry

from api.graphql import reads
from api.graphql.context import Info
from api.graphql.refs import VariableRef
from api.graphql.worker_thread import WorkerThread
from attribution.text.lines import MAX_LINES, TooDifferentError, unified
from schema import models
from schema.errors import InputError
from store.contract.answers import Label
from store.contract.protocol import GraphStore

MAX_BYTES = 1 << 20
MAX_BYTES_TOGETHER = 4 << 20
"""The most bytes of values that the diffs of one operation may compare."""


@strawberry.type(description="The differences between the values of two variables, line by line.")
class Diff:
    before: VariableRef = strawberry.field(description="The older variable.")
    after: VariableRef = strawberry.field(description="The newer variable.")
    is_equal: bool = strawberry.field(description="Whether the values are the same.")
    added: int = strawberry.field(description="How many lines only the newer value has.")
    removed: int = strawberry.field(description="How many lines only the older value has.")
    unified: str = strawberry.field(
        description="The differences in the unified diff format, each with 3 lines of context."
    )


async def diff_of(info: Info, project_id: str, before: str, after: str) -> Diff | None:
    """The diff of two variables' values; None if a variable is unknown.

    Raises:
        InputError: the values are too large to be compared here, or too different, or too many in one operation.
    """
    context = info.context
    old, new = await asyncio.gather(
        *(context.load(project_id, reads.elements, id_, Label.VARIABLE) for id_ in (before, after))
    )
    if old is None or new is None:
        return None
    if max(old.size, new.size) > MAX_BYTES:
        raise InputError("diff", "", f"a value is larger than {MAX_BYTES:,} bytes: read both and compare them")
    context.compared_bytes += old.size + new.size
    if context.compared_bytes > MAX_BYTES_TOGETHER:
        raise InputError(
            "diff", "", f"one operation compares {MAX_BYTES_TOGETHER:,} bytes of values: ask for fewer diffs at a time"
        )
    found = await context.load(project_id, _diffs, (old, new))
    if found is None:
        raise InputError(
            "diff", "", f"the values are too different: more than {MAX_LINES:,} lines between their common ends"
        )
    return Diff(
        before=old,
        after=new,
        is_equal=old.value_hash == new.value_hash,
        added=found.added,
        removed=found.removed,
        unified=found.unified,
    )


@dataclass(frozen=True, slots=True)
class _Found:
    added: int
    removed: int
    unified: str


_Pair = tuple[models.Variable, models.Variable]


async def _diffs(store: GraphStore, pairs: Sequence[_Pair]) -> dict[_Pair, _Found]:
    """The differences of each pair; None for pairs that are too different."""
    whole = await store.values([variable for pair in pairs for variable in pair])
    found = {}
    for pair in pairs:
        one = await _thread().run(partial(_compare, pair, whole[pair[0].value_hash], whole[pair[1].value_hash]))
        if one is not None:
            found[pair] = one
    return found


def _compare(pair: _Pair, old: bytes, new: bytes) -> _Found | None:
    names = [f"{variable.name} {variable.version}" for variable in pair]
    try:
        lines, added, removed = unified(old.decode("utf-8", "replace"), new.decode("utf-8", "replace"), *names)
    except TooDifferentError:
        return None
    return _Found(added, removed, "\n".join(lines))


@cache
def _thread() -> WorkerThread:
    return WorkerThread("diff")
