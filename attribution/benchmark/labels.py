"""Labels that stand in a file of their own, as what is known of the failures of one graph."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from attribution.review.labels import Label as Line
from schema.kinds import ErrorType

Named = tuple[ErrorType, str | None]
"""An error type, and the external id of an operation."""

Key = tuple[str, str | None]
"""External ids of a question and of its answer; None stands for any answer."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the labels of one failure say.

    Attributes:
        line: the first of them.
        primary: of the first.
        also: verdicts that are equally good, including all of the other people's if several have labelled it.
        kinds: of the question.
    """

    line: Line
    primary: Named
    also: frozenset[Named]
    kinds: frozenset[str]


def labels_of(labels: Sequence[Line], names: Collection[str]) -> dict[Key, Known]:
    """The labels of a graph.

    Args:
        labels: of any graphs; those of people who can't tell say nothing to compare with.
        names: what the graph is called; labels without a trace are any graph's.
    """
    found: dict[Key, Known] = {}
    for one in labels:
        if one.primary is None or (one.trace is not None and one.trace not in names):
            continue
        key = one.query_id, one.prediction_id
        primary, also = (one.primary.type, one.primary.op), {(other.type, other.op) for other in one.also}
        known = found.get(key)
        if known is None:
            found[key] = Known(one, primary, frozenset(also), one.kinds)
        else:
            more = known.also | also | ({primary} - {known.primary})
            found[key] = Known(known.line, known.primary, more, known.kinds | one.kinds)
    return found


def label_of(labels: Mapping[Key, Known], question: str, prediction: str | None) -> Known | None:
    """The label of a failure, by external ids; a label that names no prediction is for any answer to its question."""
    return labels.get((question, prediction)) or labels.get((question, None))
