"""The closed lists of kinds. A source's own word stays beside them as ``category``."""

from __future__ import annotations

from enum import StrEnum


class VariableKind(StrEnum):
    """What a variable is. Also its second label in Neo4j."""

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
    """What an operation does. Also its second label in Neo4j."""

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
    """How a target came from its source.

    A ``Read`` joins an occurrence to the version that was read; a ``Revision`` joins two versions of one variable.
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
    """Who says that an answer failed."""

    JUDGE = "judge"
    ANNOTATION = "annotation"
    USER = "user"


class QuestionKind(StrEnum):
    """What an answer to a question needs.

    PLAIN: one fact. SEVERAL: several facts, as a list, a count or a comparison does. INFERRED: what a conclusion rests
    on. UNANSWERABLE: a refusal, for nothing tells the answer. CONVERSATIONAL: what of a long reply rests on earlier
    messages.
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
"""The kinds of variables that a memory keeps."""

EARLIER = "earlier"
"""The category of a message that was read again, as what had been said before; the role of what an operation was shown
only as that begins with this word."""

TELLS_GOLD = frozenset({VariableKind.GOLD_ANSWER, VariableKind.JUDGEMENT, VariableKind.SCORE})
"""Kinds of what holds the gold answer, or what was said about it: nothing that an answer may be made from."""

NOT_THE_MEMORY = frozenset({ErrorType.ANNOTATION, ErrorType.JUDGE})
"""Error types that are not the memory's fault, but that of the annotation or of the judge."""

HUMAN_METHOD = "human"
"""The method of a verdict that was given by a person."""
