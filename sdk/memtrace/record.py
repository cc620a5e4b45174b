"""Records a variable: its event, its version, and the edges that are known at once.

A source is always older than its target in the order of this process, so that the graph has no cycle. By default, an
output derives from the earlier inputs of its operation. ``memtrace.steps`` writes these edges when the operation ends,
because ``link`` may replace them until then.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping
from typing import Any

from memtrace import sink
from memtrace.changes import NO_BASE
from memtrace.context import question
from memtrace.equal_texts import remember
from memtrace.identity import Variable, joined
from memtrace.ids import new_id
from memtrace.kinds import MAX_NAME_CHARACTERS
from memtrace.raw_events import DERIVED, OF_STORED, VARIABLE, RawEvent
from memtrace.steps import Scope, Step
from memtrace.values import TEXT, snapshot

_orders = itertools.count()


def next_order() -> int:
    """The place of the next variable in the order of this process."""
    return next(_orders)


def declare(
    events: list[RawEvent],
    scope: Scope,
    value: object,
    name: str,
    kind: str,
    *,
    step: Step | None = None,
    reads: Variable | None = None,
    revises: Variable | None = None,
    said: Mapping[str, Any] | None = None,
    stored_as: str | None = None,
) -> Variable:
    """Record a new variable with its current value.

    Args:
        events: the events so far; the events of the variable are appended.
        scope: the current trace and session.
        value: the value.
        name: the name of the variable; an occurrence gets the name of ``reads``.
        kind: a ``VariableKind``.
        step: the operation that makes the variable; None for an input from outside.
        reads: the variable that was read, if the new variable is an occurrence.
        revises: the previous version.
        said: category, comment, role, class name and attributes.
        stored_as: the id of a stored unit, which other processes may know; the value is then sent whole.
    """
    identities = scope.trace.identities
    if reads is not None and kind == "Query":
        kind = "RefinedQuery"  # the past of an answer must hold only one Query
    if not 0 < len(name) <= MAX_NAME_CHARACTERS:
        name = name[:MAX_NAME_CHARACTERS] or "variable"
    id_ = new_id() if stored_as is None else stored_as
    if type(value) is str and (revises is None or stored_as is not None):
        text, media_type, more = value, TEXT, said
    else:
        text, media_type, base = _told(scope, id_, value, revises)
        more = {**base, **said} if base and said else base or said
    variable = Variable(id_, name, 0, kind, next(_orders))
    if reads is None:
        identities.name(variable)
    else:
        variable.reads = reads
        variable.version = reads.version
        recorded = reads
        while recorded.reads is not None:
            recorded = recorded.reads
        recorded.occurrences += 1
        more = {**(said or {}), "reads": reads.id, "occurrence": recorded.occurrences}
    now, trace = time.time_ns(), scope.trace.id
    before = None if revises is None else revises.id
    maker = None if step is None else step.id
    version = variable.version
    # fmt: off
    events.append((
        VARIABLE, more, trace, now, text, media_type, id_, name, kind, version, scope.session, maker, before
    ))
    # fmt: on
    if kind == "MemoryUnit" and (type(value) is str or revises is None):  # otherwise the text is only the new part
        remember(scope, value if type(value) is str else text, variable)
    origin = reads if reads is not None else revises
    if step is not None:
        variable.path = step.path
        variable.maker = step.maker
        variable.questions = step.asked
        if step.has_message or (origin is not None and origin.has_message):
            variable.has_message = True
        step.outputs.append((variable, len(step.inputs), origin))
        if origin is not None:
            edge = "Read" if reads is not None else "Revision"
            events.append(
                (DERIVED, OF_STORED if stored_as is not None else None, trace, now, origin.id, id_, maker, edge)
            )
            variable.questions = joined(origin.questions, step.asked)
    if reads is None and kind == "Query":
        variable.questions = frozenset((variable.id,))
        question.set(variable.id)
    return variable


def _told(scope: Scope, id_: str, value: object, revises: Variable | None) -> tuple[str, str, Mapping[str, Any]]:
    """The text and media type of a value, and the field ``base`` if the text is only the new part."""
    if revises is None or sink.is_whole:
        return *snapshot(value), NO_BASE
    told = scope.trace.identities.images.tell(revises.id, id_, value)
    return told.text, told.media_type, told.base(revises.id)
