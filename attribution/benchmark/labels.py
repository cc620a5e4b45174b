"""Labels from a separate file, matched with the failures of one graph."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from attribution.review.labels import Label as Line
from schema.kinds import ErrorType

Named = tuple[ErrorType, str | None]
"""An error type, and the external id of an operation."""

Key = tuple[str, str | None]
"""External ids of a question and of its answer; None matches any answer."""


@dataclass(frozen=True, slots=True)
class Known:
    """The merged labels of one failure.

    Attributes:
        line: the first label.
        primary: the first label's verdict.
        also: equally good verdicts, with those by all people who labelled the failure.
        kinds: of the question.
    """

    line: Line
    primary: Named
    also: frozenset[Named]
    kinds: frozenset[str]


def labels_of(labels: Sequence[Line], names: Collection[str]) -> dict[Key, Known]:
    """The labels of a graph, by question and answer.

    Args:
        labels: of any graphs; labels without a decision are ignored.
        names: the names of the graph; labels without a trace match any graph.
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
    """The label of a failure, by external ids; a label without a prediction matches any answer to the question."""
    return labels.get((question, prediction)) or labels.get((question, None))
