"""Reads elements of one project: by id, reference or page, and the relationships of elements."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any, TypeVar

import msgspec

from schema.ids import ID_LENGTH
from schema.kinds import HUMAN_METHOD, DerivationKind
from schema.models import Attribution, Derivation, Element, Invalidation, Operation, Trace, Usage, Variable
from schema.times import from_microseconds
from store.contract.answers import (
    ALWAYS,
    IN_ORDER,
    Activity,
    Direction,
    Edge,
    Label,
    OperationDetail,
    Page,
    Span,
    Stored,
    VerdictGroup,
    in_order_of_size,
)
from store.contract.idle import IdlePosition, IdleTrace, end_of_list, idle_page, read_place
from store.shared.resolving import check_reference, in_place, is_prefix, is_whole_id, only_one
from store.sqlite import failures
from store.sqlite.context import (
    ReadContext,
    id_cursor,
    in_order,
    is_hex,
    keys_of,
    narrowing,
    number_cursor,
    text_hash,
    wanted,
)
from store.sqlite.rows import bind_keys

E = TypeVar("E", Derivation, Operation)

_EXTERNAL = {
    Label.TRACE: "traces.external",
    Label.SESSION: "elements.external",
    Label.OPERATION: "elements.external",
    Label.VARIABLE: "elements.external_variable",
    Label.DERIVATION: "elements.external_derivation",
}
"""The texts that find elements by external id."""

_PAGES = {
    Label.SESSION: "elements.page_sessions",
    Label.OPERATION: "elements.page_operations",
    Label.VARIABLE: "elements.page_variables",
    Label.DERIVATION: "elements.page",
}
_NEVER = datetime.min.replace(tzinfo=UTC)


def elements(context: ReadContext, label: Label, ids: Sequence[str]) -> list[Element]:
    """Elements in the order of their ids; unknown ids are left out."""
    keys = keys_of(context, label, ids)
    found = context.reader().elements(label, list(keys.values()))
    return [found[keys[id_]] for id_ in ids if id_ in keys]


def resolve(context: ReadContext, reference: str, label: Label | None = None, trace_id: str | None = None) -> Element:
    """The element that a reference means; see ``store.shared.resolving``."""
    check_reference(reference, label)
    if is_whole_id(reference):
        # Most references are whole ids, so these are looked up first.
        first = (label,) if label else ()
        for one in (*first, *(other for other in Label if other is not label)):
            if found := elements(context, one, [reference]):
                return in_place(found, reference, label, trace_id)
    labels = (label,) if label else tuple(Label)
    named = [element for one in labels for element in _named(context, reference, one, trace_id)]
    return only_one(named, reference, label)


def _named(context: ReadContext, reference: str, label: Label, trace_id: str | None) -> list[Element]:
    """Elements by external id, or by the beginning of the id."""
    keys: list[int] = []
    if label in _EXTERNAL:
        bindings = {"hash": text_hash(reference)} if label not in {Label.TRACE, Label.DERIVATION} else {}
        rows = context.rows(_EXTERNAL[label], label, reference=reference, trace=trace_id, **bindings)
        keys = [k for (k,) in rows]
    if is_prefix(reference):
        low, high = (reference.ljust(ID_LENGTH, digit) for digit in "0f")
        name = "traces.prefix" if label is Label.TRACE else "elements.prefix"
        keys += [k for (k,) in context.rows(name, label, low=low, high=high, trace=trace_id)]
    return list(context.reader().elements(label, list(dict.fromkeys(keys))).values())


def page(
    context: ReadContext,
    label: Label,
    trace_id: str,
    first: int = 1000,
    after: str | None = None,
    kinds: Collection[str] = (),
    statuses: Collection[str] = (),
    since: int = 0,
    when: Span = ALWAYS,
) -> Page[Element]:
    """A page of elements of a trace, in the order of the trace."""
    bindings: dict[str, Any] = {"trace": trace_id}
    if label is not Label.SESSION:
        bindings["kinds"] = wanted(kinds)
    if label is Label.OPERATION:
        bindings["statuses"] = wanted(statuses)
    if label in {Label.OPERATION, Label.VARIABLE}:
        bindings |= narrowing(kinds, when)
    place, last = (since, -1) if after is None else number_cursor(after)
    rows = context.rows(_PAGES[label], label, place=place, last=last, count=first + 1, **bindings)
    found = context.reader().elements(label, [row[0] for row in rows[:first]])
    more = f"{rows[first - 1][1]}:{rows[first - 1][0]}" if len(rows) > first else None
    return Page([found[row[0]] for row in rows[:first]], more)


def pages(
    context: ReadContext,
    label: Label,
    trace_ids: Sequence[str],
    first: int = 100,
    after: str | None = None,
    kinds: Collection[str] = (),
    statuses: Collection[str] = (),
    since: int = 0,
    when: Span = ALWAYS,
) -> dict[str, Page[Any]]:
    """A page of each trace, by trace id."""
    return {
        id_: failures.page(context, id_, first, after)
        if label is Label.FAILURE
        else page(context, label, id_, first, after, kinds, statuses, since, when)
        for id_ in keys_of(context, Label.TRACE, trace_ids)
    }


def traces(context: ReadContext, first: int = 100, after: str | None = None) -> Page[Trace]:
    """A page of traces, by time of creation and id."""
    place, last = id_cursor(after, "-9223372036854775808")
    rows = context.rows("traces.page", place=int(place), last=last, count=first + 1)
    found = context.reader().read(Trace, [row[0] for row in rows[:first]])
    more = f"{rows[first - 1][1]}:{rows[first - 1][2].lower()}" if len(rows) > first else None
    return Page([found[row[0]] for row in rows[:first]], more)


def activity(context: ReadContext, trace_id: str, width: int) -> list[Activity]:
    """Operations counted by kind and status, in stretches of a trace."""
    rows = context.rows("operations.activity", trace=trace_id, width=max(1, width))
    return [
        Activity(number, kind, status, count, micros / 1e6, from_microseconds(last))
        for number, kind, status, count, micros, last in rows
    ]


def verdict_groups(context: ReadContext, trace_id: str | None = None) -> list[VerdictGroup]:
    """Failures counted by method, error type and blamed operation of their verdicts."""
    rows = context.rows("attributions.groups", trace=trace_id, human=HUMAN_METHOD)
    return in_order_of_size(VerdictGroup(*row) for row in rows)


def attributions(context: ReadContext, failure_ids: Sequence[str]) -> list[Attribution]:
    """All verdicts on some failures, oldest first."""
    ids = msgspec.json.encode([id_ for id_ in failure_ids if is_hex(id_)]).decode()
    keys = [k for (k,) in context.rows("attributions.of_failures", ids=ids)]
    found = context.reader().read(Attribution, keys).values()
    return sorted(found, key=lambda a: (a.created_at or _NEVER, a.id))


def operations(context: ReadContext, operation_ids: Sequence[str]) -> dict[str, OperationDetail]:
    """Operations with their used, generated and invalidated variables, by id."""
    keys = keys_of(context, Label.OPERATION, operation_ids)
    wanted = list(keys.values())
    used: dict[int, list[tuple[int, int]]] = {k: [] for k in wanted}
    generated: dict[int, list[int]] = {k: [] for k in wanted}
    invalidated: dict[int, list[int]] = {k: [] for k in wanted}
    for operation_k, variable_k, position in context.rows("operations.used", keys=bind_keys(wanted)):
        used[operation_k].append((position, variable_k))
    for name, found in (("generated", generated), ("invalidated", invalidated)):
        for operation_k, variable_k in context.rows(f"operations.{name}", keys=bind_keys(wanted)):
            found[operation_k].append(variable_k)
    linked = {k for rows in used.values() for _, k in rows}.union(*generated.values(), *invalidated.values())
    reader = context.reader()
    operation, variable = reader.read(Operation, wanted), reader.read(Variable, sorted(linked))

    def inputs(k: int) -> list[Variable]:
        in_place = sorted((position, variable[one].sequence, one) for position, one in used[k])
        return [variable[one] for one in dict.fromkeys(one for _, _, one in in_place)]

    return {
        id_: OperationDetail(
            operation[k],
            inputs(k),
            in_order(variable[one] for one in generated[k]),
            in_order(variable[one] for one in invalidated[k]),
        )
        for id_, k in keys.items()
    }


def derivations_of(
    context: ReadContext, variable_ids: Sequence[str], direction: Direction = Direction.BACKWARD, first: int = 100
) -> dict[str, list[Derivation]]:
    """The first derivations of each variable, by the variable's id."""
    keys = keys_of(context, Label.VARIABLE, variable_ids)
    rows = context.rows("walk.derivations_of", direction, keys=bind_keys(keys.values()), count=first)
    return _listed(context, keys, Derivation, rows)


def users_of(context: ReadContext, variable_ids: Sequence[str], first: int = 100) -> dict[str, list[Operation]]:
    """The first operations that used each variable, by the variable's id."""
    keys = keys_of(context, Label.VARIABLE, variable_ids)
    rows = context.rows("operations.users_of", keys=bind_keys(keys.values()), count=first)
    return _listed(context, keys, Operation, rows)


def _listed(
    context: ReadContext, keys: Mapping[str, int], model: type[E], rows: Sequence[tuple[int, int]]
) -> dict[str, list[E]]:
    """Elements of ``model`` listed by id, from rows of (key in ``keys``, key of the element)."""
    found = context.reader().read(model, sorted({k for _, k in rows}))
    listed: dict[int, list[E]] = {k: [] for k in keys.values()}
    for element_k, k in rows:
        listed[element_k].append(found[k])
    return {id_: listed[k] for id_, k in keys.items()}


def edges(context: ReadContext, trace_id: str) -> list[Edge]:
    """All derivations of a trace as edges."""
    kinds = {kind.value: kind for kind in DerivationKind}
    # A variable has several edges: its id is converted and stored in memory once.
    hex_of = cache(bytes.hex)
    rows = context.rows("walk.edges", trace=trace_id)
    return [Edge(hex_of(source), hex_of(target), hex_of(maker), kinds[kind]) for source, target, maker, kind in rows]


def usages(context: ReadContext, trace_id: str) -> list[Usage]:
    """All usages of a trace."""
    rows = context.rows("operations.usages", trace=trace_id)
    return [Usage(operation.hex(), variable.hex(), *said) for operation, variable, *said in rows]


def invalidations(context: ReadContext, trace_id: str) -> list[Invalidation]:
    """All invalidations of a trace."""
    rows = context.rows("operations.invalidations", trace=trace_id)
    return [Invalidation(variable.hex(), operation.hex()) for variable, operation in rows]


def stored(context: ReadContext, trace_id: str, ids: Mapping[Label, Sequence[str]]) -> Stored:
    """The stored part of a trace; see ``GraphStore.stored``."""
    rows = context.rows("next.sequences", trace=trace_id) if is_hex(trace_id) else []
    next_ = dict(zip(IN_ORDER, rows[0] if rows else (0, 0, 0, 0), strict=True))
    (trace,) = elements(context, Label.TRACE, [trace_id]) or (None,)
    assert trace is None or isinstance(trace, Trace)
    # A next place of 0 means that no element of the label is stored.
    found = {label: elements(context, label, wanted) for label, wanted in ids.items() if next_[label]}
    return Stored(trace, next_, {label: {one.id: one for one in ones} for label, ones in found.items()})


def versions_of(context: ReadContext, variable_ids: Sequence[str]) -> dict[str, list[Variable]]:
    """All versions of each variable's name, by the variable's id."""
    keys = keys_of(context, Label.VARIABLE, variable_ids)
    rows = context.rows("variables.versions", keys=bind_keys(keys.values()))
    found = context.reader().read(Variable, sorted({k for _, k in rows}))
    listed: dict[int, list[Variable]] = {k: [] for k in keys.values()}
    for variable_k, k in rows:
        listed[variable_k].append(found[k])
    return {id_: sorted(listed[k], key=lambda v: (v.version, v.sequence)) for id_, k in keys.items()}


def idle_traces(
    context: ReadContext,
    until: datetime,
    before: datetime | None = None,
    keep: int | None = None,
    first: int = 100,
    after: str | None = None,
) -> Page[IdleTrace]:
    """A page of idle traces; see ``GraphStore.idle_traces``."""
    start = read_place(after)
    kept = [] if keep is None else context.rows("traces.written_in_order", skip=keep - 1)
    end = end_of_list(until, before, IdlePosition(kept[0][0], kept[0][1].hex()) if kept else None)
    rows = context.rows(
        "traces.page_idle", place=start.at, last=start.id, end=end.at, end_id=end.id, count=max(first, 0) + 1
    )
    found = context.reader().read(Trace, [k for k, _, _ in rows[:first]])
    return idle_page([IdlePosition(at, id_.hex()) for _, at, id_ in rows], first, found.values())
