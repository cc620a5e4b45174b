"""Units of a memory that outlive the process: written in one, read in another, and linked to who wrote them.

Every process computes the same id for the same version of a unit: from the trace, the store, the unit's id in the
store, and the version, which is what the unit says unless the store numbers its versions. So a reader can name a unit
that another process recorded, or will record, or that nobody recorded. It mentions the unit first, with its text: the
platform joins that with what the writer tells, whichever comes first.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from memtrace.config import masked_value
from memtrace.context import scope
from memtrace.equal_texts import remember
from memtrace.faults import report
from memtrace.identity import Place, Variable
from memtrace.ids import digest, new_id
from memtrace.kinds import MAX_NAME_CHARACTERS
from memtrace.mistakes import MistakeError, shown
from memtrace.mutations import implied_step
from memtrace.raw_events import VARIABLE
from memtrace.record import declare, next_order
from memtrace.sink import emit
from memtrace.steps import Scope
from memtrace.values import JSON, clean_text, snapshot

_KIND = "MemoryUnit"


def stored_unit(value: object, *, store: str, id: str, version: str | None = None) -> Variable | None:  # noqa: A002
    """The variable of what a store holds, whoever wrote it: this process or another, now or a year ago.

    Use it for what came out of a store, in ``retrieved`` as a candidate and as what a returned object stands for, in
    ``deleted``, or with ``bind``. If nobody recorded who wrote the unit, it comes from outside, with this value.

    Args:
        value: what the store holds: a text, or what JSON can represent.
        store: a name of the store that all processes use, such as its address.
        id: the unit's id in the store.
        version: what tells this version from others, if the store says it to readers and writers alike, such as the
            time of its last change. Without it, two versions with the same value are one.

    Returns:
        The variable; None where nothing is recorded.
    """
    here = scope.get()
    if here is None:
        return None
    try:
        place, said, text, media_type = _told(value, store, id, version)
        id_ = _id(here, place, text, media_type, version)
        units = here.trace.stored_units
        known = units.version(id_)
        if known is None:
            known = _mention(here, place, id_, said, text, media_type)
            units.set(place, id_, known)
    except Exception as error:
        report("stored_unit", error)
        return None
    return known


def store_unit(
    value: object,
    *,
    store: str,
    id: str,  # noqa: A002 (the field's own word)
    version: str | None = None,
    revises: object = None,
    attributes: Mapping[str, Any] | None = None,
) -> Variable | None:
    """Record that the operation in which this is called writes a version of a unit into a store.

    It revises the newest version that this process has read or written, unless that was deleted. If that has the same
    value (or ``version``), nothing is written: the unit stays what it is.

    Args:
        value: what the store holds from now on: a text, or what JSON can represent.
        store: as in ``stored_unit``.
        id: the same.
        version: the same.
        revises: the version before it, if this process does not know it: what ``stored_unit`` returned for it.
        attributes: any values that JSON can represent.

    Returns:
        The variable; None where nothing is recorded.
    """
    here = scope.get()
    if here is None:
        return None
    try:
        place, said, text, media_type = _told(value, store, id, version)
        id_ = _id(here, place, text, media_type, version)
        units = here.trace.stored_units
        before = units.newest(place) if revises is None else revises
        if before is not None and not isinstance(before, Variable):
            raise MistakeError(f"revises must be what stored_unit or store_unit returned, got {shown(before)}")
        with implied_step(here, "store", "Update") as (step, events):
            if before is not None:
                step.use(events, before, "before", is_input=False)
                if units.holds(place, id_):
                    return before
            said |= {"stored": "written", "attributes": {**said["attributes"], **(attributes or {})}}
            # What was there before, and was overwritten or deleted, is not the same again: others can't name it.
            as_id = id_ if units.version(id_) is None else new_id()
            name = _name(place)
            made = declare(events, here, text, name, _KIND, step=step, revises=before, said=said, stored_as=as_id)
            made.unit = place
        units.set(place, id_, made)
    except Exception as error:
        report("store_unit", error)
        return None
    return made


def newest_unit(*, store: str, id: str) -> Variable | None:  # noqa: A002 (the field's own word)
    """The newest version of a unit that this process has read or written in the current trace; None if there is none.

    Args:
        store: as in ``stored_unit``.
        id: the same.
    """
    here = scope.get()
    return None if here is None else here.trace.stored_units.newest((store, id))


def _mention(here: Scope, place: Place, id_: str, said: Mapping[str, Any], text: str, media_type: str) -> Variable:
    name = _name(place)
    variable = Variable(id_, name, 0, _KIND, next_order())
    here.trace.identities.name(variable)
    variable.unit = place
    variable.has_message = True  # that is for those to tell who wrote it
    more = {**said, "stored": "mentioned"}
    now, trace = time.time_ns(), here.trace.id
    # fmt: off
    emit([(VARIABLE, more, trace, now, text, media_type, id_, name, _KIND, 0, None, None, None)])
    # fmt: on
    remember(here, text, variable)
    return variable


def _told(value: object, store: str, id_: str, version: str | None) -> tuple[Place, dict[str, Any], str, str]:
    """The place of a unit, what its event says of it, its text and its media type.

    Stores may change the order of the keys of JSON and the space between them, so that both are made the same.
    """
    for what, word in (("store", store), ("id", id_), ("version", version)):
        if not isinstance(word, str) and (word is not None or what != "version"):
            raise MistakeError(f"{what} must be a text, got {shown(word)}")
    text, media_type = snapshot(value)
    if media_type == JSON:
        text = json.dumps(json.loads(text), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    attributes = {"store": store, "storeId": id_}
    if version is not None:
        attributes["storeVersion"] = version
    return (store, id_), {"attributes": attributes, "mediaType": media_type}, clean_text(text), media_type


def _id(here: Scope, place: Place, text: str, media_type: str, version: str | None) -> str:
    # A digest must not tell what is masked, so it is made of what leaves the process.
    what = ("value", masked_value(text, media_type)) if version is None else ("version", version)
    return digest("memtrace.unit", here.trace.id, *place, *what)


def _name(place: Place) -> str:
    """All versions of one unit have the same name, and no other unit has it."""
    store, id_ = place
    name = f"{id_} in {store}"
    return name if len(name) <= MAX_NAME_CHARACTERS else f"unit {digest(store, id_)}"
