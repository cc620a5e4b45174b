"""Writes the feedback of an application on an answer in its trace; a wrong answer becomes a failure."""

from __future__ import annotations

from collections.abc import Sequence

from memtrace import events as wire

from ingest.events.complaints import Complaint, record_failure
from ingest.events.known import EventRefusedError
from ingest.events.names import Names, references
from ingest.events.questions import questions_of
from ingest.events.right_answers import record_right
from schema.errors import AmbiguousError, NotFoundError
from schema.ids import trace_id
from schema.models import Variable
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.shared.resolving import by_name

AUTHOR = "application"
"""The author of failures from feedback, kept in the failure's attributes."""


async def take_feedback(store: GraphStore, event: wire.Feedback) -> None:
    """Record that an answer is right, or create or change the failure of a wrong answer.

    Raises:
        EventRefusedError: the event names a variable that does not exist, or the graph has no question for the answer.
        InputError: a text is too long; or the "right answer" is no answer, or a failure says that it is wrong.
    """
    names = Names(trace_id(store.project_id, event.trace))
    found = await _named(store, names, [name for _, name in references(event)])
    answer = found[event.answer]
    if event.right:
        await record_right(store, answer, event.time)
        return
    if event.question is None:
        asked = await _asked(store, answer)
    else:
        asked = found[event.question].id
    evidence = tuple(found[name].id for name in event.evidence)
    complaint = Complaint(asked, answer.id, tuple(event.gold), evidence, event.comment, event.time)
    await record_failure(store, complaint, AUTHOR)


async def _named(store: GraphStore, names: Names, wanted: Sequence[str]) -> dict[str, Variable]:
    """The variables that an event names, by the event's word: an id, or a name that only one variable has."""
    ids = {name: names.id(Label.VARIABLE, name) for name in wanted}
    stored = {one.id: one for one in await store.get(Label.VARIABLE, list(ids.values())) if isinstance(one, Variable)}
    found = {}
    for name, id_ in ids.items():
        try:
            found[name] = stored[id_] if id_ in stored else await by_name(store, name, names.trace_id)
        except NotFoundError:
            raise EventRefusedError(f"there is no variable {name!r} in this trace", is_early=True) from None
        except AmbiguousError as error:
            raise EventRefusedError(str(error)) from None
    return found


async def _asked(store: GraphStore, answer: Variable) -> str:
    """The id of the question to which an answer belongs."""
    found = (await questions_of(store, [answer]))[answer.id]
    if not found:
        # The events that lead to the answer may come later, because events may be sent in any order.
        raise EventRefusedError("question: no query led to the answer; name what was asked", is_early=True)
    if len(found) > 1:
        raise EventRefusedError(f"question: {len(found):,} may have been meant; name the one that was asked")
    return found[0].id
