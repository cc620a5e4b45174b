"""The closed lists of kinds. A source's own word for the kind is kept as ``category``."""

from __future__ import annotations

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
    """Why an answer is wrong (taxonomy: arXiv 2605.28732). The last two are not the memory's fault."""

    EXTRACTION = "ExtractionError"
    UPDATE = "UpdateError"
    DELETION = "DeletionError"
    RETRIEVAL = "RetrievalError"
    RESPONSE = "ResponseError"
    ANNOTATION = "AnnotationError"
    JUDGE = "LLMAsAJudgeError"


STORED = frozenset({VariableKind.MEMORY_UNIT, VariableKind.BUFFER})
"""The kinds of variables that a memory stores."""

EARLIER = "earlier"
"""The category of a message that was read again as conversation history. The role of an input that an operation got
only as history begins with this word."""

TELLS_GOLD = frozenset({VariableKind.GOLD_ANSWER, VariableKind.JUDGEMENT, VariableKind.SCORE})
"""Kinds of variables that tell the gold answer, or a judgement by it. No answer may be derived from these variables."""

NOT_THE_MEMORY = frozenset({ErrorType.ANNOTATION, ErrorType.JUDGE})
"""Error types that blame the annotation or the judge, not the memory."""

HUMAN_METHOD = "human"
"""The method of verdicts that people give."""
