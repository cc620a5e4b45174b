"""The closed lists of kinds. A source's own word for the kind is kept as ``category``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class VariableKind(StrEnum):
    """The kind of a variable, also its second label in Neo4j."""

    MESSAGE = "Message"
    QUERY = "Query"
    REFINED_QUERY = "RefinedQuery"
    PROMPT = "Prompt"
    MEMORY_UNIT = "MemoryUnit"
    BUFFER = "Buffer"
    CONTEXT = "Context"
    RETRIEVAL_RESULT = "RetrievalResult"
    RESPONSE = "Response"
    ANSWER = "Answer"
    GOLD_ANSWER = "GoldAnswer"
    JUDGEMENT = "Judgement"
    SCORE = "Score"
    EMBEDDING = "Embedding"
    MARKER = "Marker"
    OTHER = "Other"


class OperationKind(StrEnum):
    """The kind of an operation, also its second label in Neo4j."""

    EXTRACTION = "Extraction"
    UPDATE = "Update"
    DELETION = "Deletion"
    RETRIEVAL = "Retrieval"
    GENERATION = "Generation"
    JUDGE = "Judge"
    INITIALIZATION = "Initialization"
    SEGMENTATION = "Segmentation"
    EMBEDDING = "Embedding"
    EVALUATION = "Evaluation"
    TOOL = "Tool"
    OTHER = "Other"


class DerivationKind(StrEnum):
    """How the target of a derivation came from its source.

    ``Read``: the target is an occurrence, and the source is the version that was read. ``Revision``: target and source
    are two versions of one variable.
    """

    DERIVATION = "Derivation"
    READ = "Read"
    REVISION = "Revision"


class Status(StrEnum):
    """How an operation ended."""

    OK = "ok"
    ERROR = "error"
    CANCELLED = "cancelled"
    RUNNING = "running"
    UNKNOWN = "unknown"


class Origin(StrEnum):
    """Who judged an answer wrong."""

    JUDGE = "judge"
    ANNOTATION = "annotation"
    USER = "user"


class QuestionKind(StrEnum):
    """What an answer to a question needs.

    PLAIN: one fact. SEVERAL: several facts, for a list, a count or a comparison. INFERRED: the facts that a conclusion
    rests on. UNANSWERABLE: a refusal, because no message holds the answer. CONVERSATIONAL: a long reply, whose parts
    rest on earlier messages.
    """

    PLAIN = "plain"
    SEVERAL = "several"
    INFERRED = "inferred"
    UNANSWERABLE = "unanswerable"
    CONVERSATIONAL = "conversational"


class ErrorType(StrEnum):
    """Why an answer is wrong (taxonomy: arXiv 2605.28732). ``NOT_THE_MEMORY`` has the types that spare the memory."""

    EXTRACTION = "ExtractionError"
    UPDATE = "UpdateError"
    DELETION = "DeletionError"
    RETRIEVAL = "RetrievalError"
    RESPONSE = "ResponseError"
    ANNOTATION = "AnnotationError"
    JUDGE = "LLMAsAJudgeError"


STORED = frozenset({VariableKind.MEMORY_UNIT, VariableKind.BUFFER})
"""The kinds of variables that a memory stores."""

TURN = "turn"
"""Category of a message that a user said in a conversation with a model; the model's next answer replies to it."""

EARLIER = "earlier"
"""The category of a message that was read again as conversation history. The role of an input that an operation got
only as history begins with this word."""

ARGUMENT = "argument"
"""Category of a text with which a model called a tool, and which no recorded text contains."""

TELLS_GOLD = frozenset({VariableKind.GOLD_ANSWER, VariableKind.JUDGEMENT, VariableKind.SCORE})
"""Kinds of variables that tell the gold answer, or a judgement by it. No answer may be derived from these variables."""


@dataclass(frozen=True, slots=True)
class ErrorTypeRule:
    """What verdicts with an error type may blame.

    Attributes:
        is_memory: whether the memory is at fault.
        not_by: kinds of operations that can't cause the error. All others can, such as an update that deletes, or a
            tool that searches.
    """

    is_memory: bool = True
    not_by: frozenset[OperationKind] = frozenset()


_WRITES = frozenset(
    {
        OperationKind.EXTRACTION,
        OperationKind.INITIALIZATION,
        OperationKind.SEGMENTATION,
        OperationKind.UPDATE,
        OperationKind.DELETION,
    }
)
_SEARCH = frozenset({OperationKind.RETRIEVAL})

ERROR_TYPES: Mapping[ErrorType, ErrorTypeRule] = dict.fromkeys(ErrorType, ErrorTypeRule()) | {
    ErrorType.EXTRACTION: ErrorTypeRule(not_by=_SEARCH | {OperationKind.DELETION}),
    ErrorType.UPDATE: ErrorTypeRule(not_by=_SEARCH),
    ErrorType.DELETION: ErrorTypeRule(not_by=_SEARCH),
    ErrorType.RETRIEVAL: ErrorTypeRule(not_by=_WRITES),
    ErrorType.RESPONSE: ErrorTypeRule(not_by=_WRITES | _SEARCH),
    ErrorType.ANNOTATION: ErrorTypeRule(is_memory=False),
    ErrorType.JUDGE: ErrorTypeRule(is_memory=False),
}
"""The rule of each error type. Without an entry here, the memory is at fault and any operation may cause the error."""

NOT_THE_MEMORY = frozenset(one for one, rule in ERROR_TYPES.items() if not rule.is_memory)
"""Error types that blame the annotation or the judge, not the memory."""

MEMORY_ERRORS = frozenset(ErrorType) - NOT_THE_MEMORY
"""Error types that blame the memory."""

HUMAN_METHOD = "human"
"""The method of verdicts that people give."""
