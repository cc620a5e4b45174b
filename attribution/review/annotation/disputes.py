"""Disagreement of annotators, and the final word on disputed cases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

import msgspec

from attribution.review.annotation.agreement import QueueAgreement, disagree, queue_agreement
from attribution.review.people import Judgement, checked_verdict, write_verdict
from attribution.verdicts.gold import gold_mark_of
from attribution.verdicts.stored import by_id
from ingest.events.feedback import EntryOf
from schema.annotation import AnnotationQueue, Assignment, Progress
from schema.errors import InputError
from schema.models import Attribution, Failure
from store.contract.annotations import Annotations
from store.contract.protocol import GraphStore
from store.contract.verdict_changes import ADJUDICATED, adjudication_id, is_adjudicated, read_said

LABEL_DETAILS = "label"
"""The key of a verdict's attributes with further fields of a label."""


@dataclass(frozen=True, slots=True)
class Side:
    """One annotator's verdict, without a name.

    Attributes:
        name: A, B, …, drawn anew for each case, and so anonymous.
    """

    name: str
    verdict: Attribution


@dataclass(frozen=True, slots=True)
class Dispute:
    """A case on which annotators disagree, or with a final word.

    Attributes:
        sides: the verdicts in a random order.
        adjudicated: the final word; None if there is none yet.
    """

    failure: Failure
    sides: list[Side]
    adjudicated: Attribution | None


async def submitted(
    store: GraphStore, queue: AnnotationQueue, assignments: Sequence[Assignment]
) -> dict[str, list[Attribution]]:
    """The annotators' verdicts on submitted cases, by failure, in the order of the queue.

    Verdicts hidden from the caller are left out; see ``store.blind``.
    """
    done = {(one.failure_id, one.attribution_id) for one in assignments if one.progress is Progress.DONE}
    found: dict[str, list[Attribution]] = defaultdict(list)
    for verdict in await store.attributions(sorted({failure_id for failure_id, _ in done})):
        if (verdict.failure_id, verdict.id) in done:
            found[verdict.failure_id].append(verdict)
    return {id_: found[id_] for id_ in queue.failure_ids if id_ in found}


async def agreement_of(store: GraphStore, queues: Annotations, queue: AnnotationQueue) -> QueueAgreement:
    """How far the annotators of a queue agree, on the cases visible to the caller."""
    said = await submitted(store, queue, await queues.assignments(queue.id))
    named: dict[str, set[tuple[str | None, str | None]]] = defaultdict(set)
    for change in await store.verdict_changes(list(said)):
        if change.said is not None:
            verdict = read_said(change.said)
            named[change.attribution_id].add((verdict.error_type, verdict.operation_id))
    changed = {id_ for id_, some in named.items() if len(some) > 1}
    return queue_agreement(said, queue.annotators, changed)


async def disputes(store: GraphStore, queues: Annotations, queue: AnnotationQueue) -> list[Dispute]:
    """The disputed cases for which all verdicts are submitted, or all disputed cases of a closed queue.

    Cases with a final word are included even if all annotators agree.
    """
    said = await submitted(store, queue, await queues.assignments(queue.id))
    wanted = 2 if queue.closed_at is not None else max(2, queue.annotators)
    judged = {id_: some for id_, some in said.items() if len(some) >= wanted}
    final = {one.id: one for one in await store.attributions(list(judged)) if is_adjudicated(one)}
    disputed = {id_: some for id_, some in judged.items() if disagree(some) or adjudication_id(id_) in final}
    failures = await by_id(store, Failure, disputed)
    return [
        Dispute(failures[id_], _sides(queue, some), final.get(adjudication_id(id_)))
        for id_, some in disputed.items()
        if id_ in failures
    ]


async def adjudicate(
    store: GraphStore,
    queues: Annotations,
    queue: AnnotationQueue,
    judgement: Judgement,
    by: str,
    *,
    is_admin: bool = False,
    entry_of: EntryOf | None = None,
) -> Attribution:
    """Give the final word on a case, which counts before people's other verdicts and replaces an earlier final word.

    Args:
        store: holds the failure.
        queues: of the project.
        queue: with the case.
        judgement: the final word.
        by: the person, who must not have judged the case before, except for an admin.
        is_admin: whether the person is an admin.
        entry_of: makes the entry of the audit log.

    Raises:
        InputError: the case is not in the queue, has fewer than two submitted verdicts, is hidden from the person, or
            was judged by the person.
        NotFoundError: the failure, or an element named by the verdict, does not exist.
    """
    trace, verdict = await checked_verdict(store, judgement, by)
    assignments = await queues.assignments(queue.id)
    own = [one for one in assignments if one.failure_id == judgement.failure_id]
    annotators = sorted(one.person for one in own if one.progress is Progress.DONE)
    if judgement.failure_id not in queue.failure_ids:
        raise InputError("adjudication", judgement.failure_id, f"is not a case of the queue {queue.name!r}")
    if await store.withheld([judgement.failure_id]):
        raise InputError("adjudication", judgement.failure_id, "is yours to annotate first")
    if len(annotators) < 2:
        raise InputError("adjudication", judgement.failure_id, "needs the verdicts of two people")
    if by in annotators and not is_admin:
        raise InputError("adjudication", judgement.failure_id, "you have judged it yourself: leave it to others")
    marks = {ADJUDICATED: True, "annotators": annotators, "queue": queue.name}
    final = adjudicated(verdict, marks)
    await write_verdict(store, trace, final, entry_of)
    return final


def adjudicated(verdict: Attribution, marks: Mapping[str, object]) -> Attribution:
    """A verdict as a final word; ``marks`` are the label's other fields."""
    attributes = msgspec.json.encode({LABEL_DETAILS: dict(marks), **gold_mark_of(verdict)}).decode()
    return replace(verdict, id=adjudication_id(verdict.failure_id), attributes=attributes)


def _sides(queue: AnnotationQueue, verdicts: Sequence[Attribution]) -> list[Side]:
    def drawn(verdict: Attribution) -> bytes:
        return blake2b("\0".join((queue.seed, verdict.id, "side")).encode(), digest_size=8).digest()

    return [Side(chr(ord("A") + place), one) for place, one in enumerate(sorted(verdicts, key=drawn))]
