"""Selecting elements of one project: by id, external id, page, operation and name."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from schema.errors import InputError
from schema.ids import ID_LENGTH
from schema.models import Attribution, Derivation, Element, Failure, Invalidation, Trace, Usage, Variable
from store.answers import IN_ORDER, Direction, Label, OperationDetail, Page, Stored
from store.resolving import check_reference, in_place, is_prefix, is_whole_id, only_one
from store.sqlite.context import ReadContext, in_order, is_hex, keys_of, text_hash
from store.sqlite.rows import bind_keys

_FIRST_ID = "0" * ID_LENGTH
_NEVER = datetime.min.replace(tzinfo=UTC)


def elements(context: ReadContext, label: Label, ids: Sequence[str]) -> list[Element]:
    """Elements by id, in the order asked for."""
    keys = keys_of(context, label, ids)
    found = context.reader().elements(label, list(keys.values()))
    return [found[keys[id_]] for id_ in ids if id_ in keys]


def resolve(context: ReadContext, reference: str, label: Label | None, trace_id: str | None) -> Element:
    """See ``GraphStore.resolve``."""
    check_reference(reference, label)
    if is_whole_id(reference):
        # Most references are the id of what is asked for.
        first = (label,) if label else ()
        for one in (*first, *(other for other in Label if other is not label)):
            if found := elements(context, one, [reference]):
                return in_place(found, reference, label, trace_id)
    labels = (label,) if label else tuple(Label)
    named = [element for one in labels for element in _named(context, reference, one, trace_id)]
    return only_one(named, reference, label)


def _named(context: ReadContext, reference: str, label: Label, trace_id: str | None) -> list[Element]:
    """What has an id in the source, or an id that begins so."""
    name = label.value.lower()
    keys: list[int] = []
    if label not in {Label.FAILURE, Label.ATTRIBUTION}:
        bindings = {"hash": text_hash(reference)} if label not in {Label.TRACE, Label.DERIVATION} else {}
        keys = [k for (k,) in context.rows(f"external_{name}", reference=reference, trace=trace_id, **bindings)]
    if is_prefix(reference):
        low, high = (reference.ljust(ID_LENGTH, digit) for digit in "0f")
        keys += [k for (k,) in context.rows(f"prefix_{name}", low=low, high=high, trace=trace_id)]
    return list(context.reader().elements(label, list(dict.fromkeys(keys))).values())


def page(
    context: ReadContext,
    label: Label,
    trace_id: str,
    first: int,
    after: str | None,
    kinds: Collection[str],
    statuses: Collection[str],
) -> Page[Element]:
    """See ``GraphStore.page``."""
    bindings: dict[str, Any] = {"trace": trace_id}
    if label is not Label.SESSION:
        bindings["kinds"] = _wanted(kinds)
    if label is Label.OPERATION:
        bindings["statuses"] = _wanted(statuses)
    place, last = _number_cursor(after)
    rows = context.rows(f"page_{label.value.lower()}", place=place, last=last, count=first + 1, **bindings)
    found = context.reader().elements(label, [row[0] for row in rows[:first]])
    more = f"{rows[first - 1][1]}:{rows[first - 1][0]}" if len(rows) > first else None
    return Page([found[row[0]] for row in rows[:first]], more)


def _wanted(words: Collection[str]) -> str | None:
    """Words as a statement takes them; None where all are wanted."""
    return msgspec.json.encode(sorted(words)).decode() if words else None


def pages(
    context: ReadContext,
    label: Label,
    trace_ids: Sequence[str],
    first: int,
    after: str | None,
    kinds: Collection[str],
    statuses: Collection[str],
) -> dict[str, Page[Any]]:
    """See ``GraphStore.pages``."""
    return {
        id_: failure_page(context, id_, first, after)
        if label is Label.FAILURE
        else page(context, label, id_, first, after, kinds, statuses)
        for id_ in keys_of(context, Label.TRACE, trace_ids)
    }


def trace_page(context: ReadContext, first: int, after: str | None) -> Page[Trace]:
    """See ``GraphStore.traces``."""
    place, last = _id_cursor(after, "-9223372036854775808")
    rows = context.rows("page_trace", place=int(place), last=last, count=first + 1)
    found = context.reader().traces([row[0] for row in rows[:first]])
    more = f"{rows[first - 1][1]}:{rows[first - 1][2].lower()}" if len(rows) > first else None
    return Page([found[row[0]] for row in rows[:first]], more)


def failure_page(context: ReadContext, trace_id: str | None, first: int, after: str | None) -> Page[Failure]:
    """See ``GraphStore.failures``."""
    place, last = _id_cursor(after, _FIRST_ID)
    rows = context.rows("page_failure", trace=trace_id, place=place, last=last, count=first + 1)
    found = context.reader().failures([row[0] for row in rows[:first]])
    more = f"{rows[first - 1][1].lower()}:{rows[first - 1][2].lower()}" if len(rows) > first else None
    return Page([found[row[0]] for row in rows[:first]], more)


def attributions(context: ReadContext, failure_ids: Sequence[str]) -> list[Attribution]:
    """See ``GraphStore.attributions``."""
    ids = msgspec.json.encode([id_ for id_ in failure_ids if is_hex(id_)]).decode()
    keys = [k for (k,) in context.rows("attributions_of_failures", ids=ids)]
    found = context.reader().attributions(keys).values()
    return sorted(found, key=lambda a: (a.created_at or _NEVER, a.id))


def _number_cursor(cursor: str | None) -> tuple[int, int]:
    """A cursor of two numbers: sequence and key."""
    if cursor is None:
        return -1, -1
    found = re.fullmatch(r"(\d{1,18}):(\d{1,18})", cursor)
    if not found:
        raise _bad_cursor(cursor)
    return int(found[1]), int(found[2])


def _id_cursor(cursor: str | None, start: str) -> tuple[str, str]:
    """A cursor of a place, written like ``start``, and an id."""
    if cursor is None:
        return start, _FIRST_ID
    place = "[0-9a-f]{32}" if start == _FIRST_ID else r"-?\d{1,18}"
    found = re.fullmatch(f"({place}):([0-9a-f]{{32}})", cursor)
    if not found:
        raise _bad_cursor(cursor)
    return found[1], found[2]


def _bad_cursor(cursor: str) -> InputError:
    return InputError("cursor", "", f"{cursor[:80]!r} is not a cursor of this list")


def operations(context: ReadContext, operation_ids: Sequence[str]) -> dict[str, OperationDetail]:
    """See ``GraphStore.operations``."""
    keys = keys_of(context, Label.OPERATION, operation_ids)
    wanted = list(keys.values())
    used: dict[int, list[tuple[int, int]]] = {k: [] for k in wanted}
    generated: dict[int, list[int]] = {k: [] for k in wanted}
    invalidated: dict[int, list[int]] = {k: [] for k in wanted}
    for operation_k, variable_k, position in context.rows("used_by_operations", keys=bind_keys(wanted)):
        used[operation_k].append((position, variable_k))
    for name, found in (("generated", generated), ("invalidated", invalidated)):
        for operation_k, variable_k in context.rows(f"{name}_by_operations", keys=bind_keys(wanted)):
            found[operation_k].append(variable_k)
    linked = {k for rows in used.values() for _, k in rows}.union(*generated.values(), *invalidated.values())
    reader = context.reader()
    operation, variable = reader.operations(wanted), reader.variables(sorted(linked))

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
    context: ReadContext, variable_ids: Sequence[str], direction: Direction, first: int
) -> dict[str, list[Derivation]]:
    """See ``GraphStore.derivations_of``."""
    keys = keys_of(context, Label.VARIABLE, variable_ids)
    rows = context.rows(f"derivations_of_{direction.value}", keys=bind_keys(keys.values()), count=first)
    found = context.reader().derivations(sorted({k for _, k in rows}))
    listed: dict[int, list[Derivation]] = {k: [] for k in keys.values()}
    for variable_k, k in rows:
        listed[variable_k].append(found[k])
    return {id_: listed[k] for id_, k in keys.items()}


def usages(context: ReadContext, trace_id: str) -> list[Usage]:
    """See ``GraphStore.usages``."""
    rows = context.rows("usages", trace=trace_id)
    return [Usage(operation.hex(), variable.hex(), *said) for operation, variable, *said in rows]


def invalidations(context: ReadContext, trace_id: str) -> list[Invalidation]:
    """See ``GraphStore.invalidations``."""
    rows = context.rows("invalidations", trace=trace_id)
    return [Invalidation(variable.hex(), operation.hex()) for variable, operation in rows]


def stored(context: ReadContext, trace_id: str, ids: Mapping[Label, Sequence[str]]) -> Stored:
    """See ``GraphStore.stored``."""
    rows = context.rows("next_sequences", trace=trace_id) if is_hex(trace_id) else []
    next_ = dict(zip(IN_ORDER, rows[0] if rows else (0, 0, 0, 0), strict=True))
    (trace,) = elements(context, Label.TRACE, [trace_id]) or (None,)
    assert trace is None or isinstance(trace, Trace)
    # Where the first place is free, nothing is stored: most of all in a new trace.
    found = {label: elements(context, label, wanted) for label, wanted in ids.items() if next_[label]}
    return Stored(trace, next_, {label: {one.id: one for one in ones} for label, ones in found.items()})


def versions_of(context: ReadContext, variable_ids: Sequence[str]) -> dict[str, list[Variable]]:
    """See ``GraphStore.versions_of``."""
    keys = keys_of(context, Label.VARIABLE, variable_ids)
    rows = context.rows("versions", keys=bind_keys(keys.values()))
    found = context.reader().variables(sorted({k for _, k in rows}))
    listed: dict[int, list[Variable]] = {k: [] for k in keys.values()}
    for variable_k, k in rows:
        listed[variable_k].append(found[k])
    return {id_: sorted(listed[k], key=lambda v: (v.version, v.sequence)) for id_, k in keys.items()}
