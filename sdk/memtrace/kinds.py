"""The closed lists of kinds, and the limits of length in the wire format.

The application's own word is kept beside the kind as ``category``.
"""

from __future__ import annotations

from enum import StrEnum

MAX_ID_CHARACTERS = 200
MAX_NAME_CHARACTERS = 2000
MAX_SAID_CHARACTERS = 20_000
"""Longest gold answer or comment on an answer, in characters."""
MAX_SAID = 100
"""Largest number of gold answers, and of messages, in one feedback."""


class VariableKind(StrEnum):
    """What a variable is."""

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
    """What an operation does."""

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
    """How a target came from its source."""

    DERIVATION = "Derivation"
    READ = "Read"
    REVISION = "Revision"


class EndStatus(StrEnum):
    """How an operation ended. An operation without an end is running or crashed.

    ``unknown`` is for recordings of other tools that do not say how an operation ended.
    """

    OK = "ok"
    ERROR = "error"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"
