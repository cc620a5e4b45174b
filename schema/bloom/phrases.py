"""Search phrases: what can be asked in Bloom in a sentence. Their Cypher is in files under ``phrases/``."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from schema.bloom.stamps import MADE_AT, stamp


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What Bloom offers for a parameter: the values of a property, or what a query returns."""

    label: str | None = None
    property: str | None = None
    cypher: str | None = None


@dataclass(frozen=True, slots=True)
class Phrase:
    """One search phrase.

    Attributes:
        name: of its file; it tells what is shown.
        text: what a user types, with its parameters.
        about: one sentence that Bloom shows beside it.
        parameters: names without ``$``, in the order of the text.
    """

    name: str
    text: str
    about: str
    parameters: tuple[str, ...]

    @property
    def cypher(self) -> str:
        """The query."""
        return files("schema").joinpath("bloom", "phrases", f"{self.name}.cypher").read_text("utf-8")


SUGGESTIONS = {
    "project": Suggestion(cypher="MATCH (t:Trace) RETURN DISTINCT t.projectId"),
    "type": Suggestion("Attribution", "errorType"),
    "question": Suggestion("Failure", "question"),
    "answer": Suggestion("Answer", "id"),
    "variable": Suggestion("Variable", "id"),
    "operation": Suggestion("Operation", "id"),
    "name": Suggestion("MemoryUnit", "name"),
    "times": Suggestion(cypher="UNWIND [0, 1, 2, 5, 10] AS times RETURN times"),
}
"""By the parameter's name."""

PHRASES = (
    Phrase(
        "failures",
        "Failures of project $project",
        "Wrong answers with their questions and the gold answers",
        ("project",),
    ),
    Phrase(
        "failures_of_type",
        "Failures of type $type in project $project",
        "Wrong answers whose verdict is of one error type, and what is blamed",
        ("type", "project"),
    ),
    Phrase(
        "proof_of_verdict",
        "Why was $question answered wrong in project $project",
        "The verdicts on a question, the operations they blame and the variables they cite",
        ("question", "project"),
    ),
    Phrase(
        "past_of_answer",
        "What did $answer depend on",
        "The whole causal past of an answer or of any other variable, by its id",
        ("answer",),
    ),
    Phrase(
        "future_of_variable",
        "What depends on $variable",
        "All that was derived from a message, a memory unit or any other variable, by its id",
        ("variable",),
    ),
    Phrase(
        "way_to_answer",
        "How did $answer depend on $variable",
        "A shortest causal path from an answer back to a variable, by their ids",
        ("answer", "variable"),
    ),
    Phrase(
        "history_of_unit",
        "History of unit $name in project $project",
        "All versions of a memory unit, and the operations that made, revised and ended them",
        ("name", "project"),
    ),
    Phrase(
        "blamed_operations",
        "Operations blamed more than $times times in project $project",
        "Operations that are at fault for several wrong answers",
        ("times", "project"),
    ),
    Phrase(
        "lossy_operations",
        "Operations that lost pieces in project $project",
        "All operations that lost a piece of what an answer needed, and the verdicts that say so",
        ("project",),
    ),
    Phrase(
        "harmful_operations",
        "Right answers from operations blamed more than $times times in project $project",
        "Operations that are at fault for several wrong answers, and the right answers that rest on what they made",
        ("times", "project"),
    ),
    Phrase(
        "missed_retrievals",
        "Retrievals that missed their unit in project $project",
        "Retrieval errors: what was asked, what was returned, and the unit that was not",
        ("project",),
    ),
    Phrase(
        "retrieved_for_question",
        "What was retrieved for $question in project $project",
        "What the retrievals of a question that failed returned, and the stored versions behind it",
        ("question", "project"),
    ),
    Phrase(
        "unread_units",
        "Memory units never retrieved in project $project",
        "Newest versions of memory units that no retrieval ever returned",
        ("project",),
    ),
    Phrase(
        "hub_units",
        "Memory units retrieved more than $times times in project $project",
        "Memory units that are returned again and again",
        ("times", "project"),
    ),
    Phrase(
        "ended_units",
        "Deleted units of project $project",
        "Memory units whose life an operation ended",
        ("project",),
    ),
    Phrase(
        "around_operation",
        "What did $operation use and make",
        "An operation with its inputs, its outputs, what it ended, its session and its trace, by its id",
        ("operation",),
    ),
    Phrase(
        "disputed_verdicts",
        "Disputed verdicts of project $project",
        "Failures on which a person and a method disagree",
        ("project",),
    ),
)


def templates() -> list[dict[str, Any]]:
    """The phrases as a perspective holds them."""
    return [
        {
            "name": phrase.about,
            "id": f"tmpl:{stamp('phrase', phrase.name)}",
            "createdAt": MADE_AT,
            "text": phrase.text,
            "cypher": phrase.cypher,
            "isUpdateQuery": None,
            "params": [_parameter(name) for name in phrase.parameters],
            "hasCypherErrors": False,
        }
        for phrase in PHRASES
    ]


def _parameter(name: str) -> dict[str, Any]:
    suggestion = SUGGESTIONS[name]
    return {
        "name": f"${name}",
        "dataType": "String",
        "collapsed": False,
        "suggestionLabel": suggestion.label,
        "suggestionProp": suggestion.property,
        "suggestionBoolean": False,
        "cypher": suggestion.cypher,
    }
