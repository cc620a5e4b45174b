"""Memory units that outlive the process: a unit may be written in one process and read in another.

Every process computes the same id for a version of a unit: from the trace, the store, the unit's id in the store, and
the version (the store's version number, or else the value). So a reader can refer to a unit that another process
recorded, will record, or never records. The reader sends an event that mentions the unit and its text; the platform
joins this event with the writer's event, in either order.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from typing import Any
from uuid import UUID

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
_UUID = re.compile(r"(?i)(?:urn:uuid:)?\{?[0-9a-f]{8}(-?)(?:[0-9a-f]{4}\1){3}[0-9a-f]{12}\}?")


def stored_unit(value: object, *, store: str, id: str, version: str | None = None) -> Variable | None:  # noqa: A002
    """The variable of a unit that came out of a store; any process may have written the unit, at any time.

    Pass the variable to ``retrieved``, ``deleted`` or ``bind``. A unit whose write nobody recorded comes from outside,
    with this value.

    Args:
        value: the value in the store: a text, or a value that JSON can represent.
        store: a name of the store that all processes use, such as its address.
        id: the unit's id in the store.
        version: identifies the version, if the store tells readers and writers the same, such as the time of the last
            change. Without it, two versions with the same value are one version.

    Returns:
        The variable; None if nothing is recorded here.
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
    """Record that the current operation writes a version of a unit into a store.

    The new version revises the newest version that this process has read or written, unless the unit was deleted. An
    equal value (or ``version``) makes no new version.

    Args:
        value: the new value in the store: a text, or a value that JSON can represent.
        store: as in ``stored_unit``.
        id: as in ``stored_unit``.
        version: as in ``stored_unit``.
        revises: the previous version, as ``stored_unit`` returned it; needed if this process does not know it yet.
        attributes: any values that JSON can represent.

    Returns:
        The variable; None if nothing is recorded here.
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
            # A value that was overwritten or deleted before gets a new id: the computed id belongs to the old version.
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
    """The newest version of a unit that this process has read or written in the current trace, or None.

    Args:
        store: as in ``stored_unit``.
        id: as in ``stored_unit``.
    """
    here = scope.get()
    return None if here is None else here.trace.stored_units.newest((store, _one_spelling(id)))


def _mention(here: Scope, place: Place, id_: str, said: Mapping[str, Any], text: str, media_type: str) -> Variable:
    name = _name(place)
    variable = Variable(id_, name, 0, _KIND, next_order())
    here.trace.identities.name(variable)
    variable.unit = place
    variable.has_message = True  # assumed: only the writer knows
    more = {**said, "stored": "mentioned"}
    now, trace = time.time_ns(), here.trace.id
    # fmt: off
    emit([(VARIABLE, more, trace, now, text, media_type, id_, name, _KIND, 0, None, None, None)])
    # fmt: on
    remember(here, text, variable)
    return variable


def _told(value: object, store: str, id_: str, version: str | None) -> tuple[Place, dict[str, Any], str, str]:
    """The place of a unit, fields of its event, the value as text, and the media type.

    JSON is written in one form, because stores may change the order of keys and the white space.
    """
    for what, word in (("store", store), ("id", id_), ("version", version)):
        if not isinstance(word, str) and (word is not None or what != "version"):
            raise MistakeError(f"{what} must be a text, got {shown(word)}")
    text, media_type = snapshot(value)
    if media_type == JSON:
        text = json.dumps(json.loads(text), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    id_ = _one_spelling(id_)
    attributes = {"store": store, "storeId": id_}
    if version is not None:
        attributes["storeVersion"] = version
    return (store, id_), {"attributes": attributes, "mediaType": media_type}, clean_text(text), media_type


def _one_spelling(id_: str) -> str:
    """An id in the spelling of the standard, if it is a UUID: Qdrant returns ids with hyphens that had none."""
    return str(UUID(id_)) if _UUID.fullmatch(id_) else id_


def _id(here: Scope, place: Place, text: str, media_type: str, version: str | None) -> str:
    # The digest is made of the masked value, because a digest of the value could reveal masked texts.
    what = ("value", masked_value(text, media_type)) if version is None else ("version", version)
    return digest("memtrace.unit", here.trace.id, *place, *what)


def _name(place: Place) -> str:
    """All versions of one unit have the same name, and no other unit has it."""
    store, id_ = place
    name = f"{id_} in {store}"
    return name if len(name) <= MAX_NAME_CHARACTERS else f"unit {digest(store, id_)}"
