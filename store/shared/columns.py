"""The columns of each kind of element: both engines read and write elements by these declarations.

A new property of an element is one line here, in the order of the model's fields, and a migration that adds the column
in SQLite. In Neo4j every field is a property of the node or relationship, under its public name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto
from operator import attrgetter
from typing import Any

from schema.constructors import constructor
from schema.errors import StoreError
from schema.kinds import DerivationKind, ErrorType, OperationKind, Origin, QuestionKind, Status, VariableKind
from schema.models import Attribution, Derivation, Failure, Operation, Session, Trace, Variable, camel_case
from store.contract.answers import Label


class Codec(Enum):
    """How a field is stored. Neo4j stores every field unchanged, except for ``TIME``."""

    ID = auto()
    """The element's own id: 16 bytes in SQLite."""

    PROJECT = auto()
    """The project; SQLite stores the project only with the trace."""

    TRACE = auto()
    """The trace: its key in SQLite."""

    KEY = auto()
    """The id of another element: its key in SQLite."""

    TEXT = auto()
    """A text that often repeats within a trace: in SQLite, the key of a row of the table ``text``."""

    VALUE = auto()
    """A part of a variable's value: a column of the table ``value`` in SQLite."""

    PLAIN = auto()
    """A text or a number, stored unchanged."""

    WORD = auto()
    """A word of a closed list, as text."""

    TIME = auto()
    """A moment: microseconds since 1970 in UTC in SQLite, a native time in Neo4j."""

    FLAG = auto()
    """True or false: 1 or 0 in SQLite."""

    LIST = auto()
    """A list of texts: a JSON array in SQLite."""


class _Words(dict[str | None, Any]):
    """The words of a closed list by their texts. An unknown text was written by a newer version."""

    def __init__(self, name: str, words: Mapping[str | None, Any]) -> None:
        super().__init__(words)
        self._name = name

    def __missing__(self, text: str | None) -> Any:
        raise StoreError(
            f"the store has {self._name} {text!r}, which this version of MemTrace does not know: update MemTrace"
        )


@dataclass(frozen=True, slots=True)
class Column:
    """How a field of an element is stored.

    Attributes:
        name: of the model's field.
        sql: the column in SQLite; empty if SQLite has no column for the field.
        is_optional: whether the field may be None.
        of: the label of the element that a ``KEY`` names.
        words: the closed list of a ``WORD``.
        get: returns the field of an element.
        word_of: the word of a ``WORD``, by its text.
    """

    name: str
    codec: Codec
    sql: str
    is_optional: bool = False
    of: Label | None = None
    words: type[StrEnum] | None = None
    get: Callable[[Any], Any] = field(init=False, repr=False, compare=False)
    word_of: Mapping[str | None, Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        words: dict[str | None, Any] = {word.value: word for word in self.words or ()}
        object.__setattr__(self, "get", attrgetter(self.name))
        object.__setattr__(
            self, "word_of", _Words(self.public_name, words | {None: None} if self.is_optional else words)
        )

    @property
    def public_name(self) -> str:
        """The property in Neo4j."""
        return camel_case(self.name)


@dataclass(frozen=True, slots=True)
class Declaration:
    """The stored fields of the elements of one label.

    Attributes:
        model: the class of the elements.
        columns: in the order of the model's fields.
    """

    label: Label
    model: type[Any]
    columns: tuple[Column, ...]

    @property
    def has_kinds(self) -> bool:
        """Whether elements of this label have a kind."""
        return any(column.name == "kind" for column in self.columns)

    def of_codec(self, codec: Codec) -> tuple[Column, ...]:
        """The columns with this codec."""
        return tuple(column for column in self.columns if column.codec is codec)

    def make(self, values: Iterable[Iterable[Any]]) -> Iterable[Any]:
        """Elements from their field values, passed as one iterable a column, in the order of ``columns``."""
        return map(constructor(self.model), *values)


def _key(name: str, sql: str, of: Label, is_optional: bool = False) -> Column:
    return Column(name, Codec.KEY, sql, is_optional, of)


def _text(name: str, sql: str, is_optional: bool = False) -> Column:
    return Column(name, Codec.TEXT, sql, is_optional)


def _value(name: str, sql: str, is_optional: bool = False) -> Column:
    return Column(name, Codec.VALUE, sql, is_optional)


def _plain(name: str, is_optional: bool = False) -> Column:
    return Column(name, Codec.PLAIN, name, is_optional)


def _word(name: str, words: type[StrEnum], is_optional: bool = False) -> Column:
    return Column(name, Codec.WORD, name, is_optional, words=words)


def _time(name: str) -> Column:
    return Column(name, Codec.TIME, name, is_optional=True)


def _list(name: str) -> Column:
    return Column(name, Codec.LIST, name)


_ID = Column("id", Codec.ID, "id")
_PROJECT = Column("project_id", Codec.PROJECT, "")
_TRACE = Column("trace_id", Codec.TRACE, "trace_k")

_ALL = (
    Declaration(
        Label.TRACE,
        Trace,
        (
            _ID,
            Column("project_id", Codec.PROJECT, "project"),
            _plain("external_id"),
            _plain("name", is_optional=True),
            _plain("source"),
            _time("created_at"),
            _plain("attributes"),
        ),
    ),
    Declaration(
        Label.SESSION,
        Session,
        (
            _ID,
            _PROJECT,
            _TRACE,
            _text("external_id", "external_k"),
            _text("name", "name_k", is_optional=True),
            _text("category", "category_k", is_optional=True),
            _text("comment", "comment_k", is_optional=True),
            _plain("sequence"),
            _time("created_at"),
            _text("attributes", "attributes_k"),
        ),
    ),
    Declaration(
        Label.OPERATION,
        Operation,
        (
            _ID,
            _PROJECT,
            _TRACE,
            _key("session_id", "session_k", Label.SESSION, is_optional=True),
            _text("external_id", "external_k"),
            _text("name", "name_k", is_optional=True),
            _word("kind", OperationKind),
            _text("category", "category_k", is_optional=True),
            _text("comment", "comment_k", is_optional=True),
            _word("status", Status),
            _plain("sequence"),
            _time("started_at"),
            _time("ended_at"),
            _text("location", "location_k", is_optional=True),
            _text("attributes", "attributes_k"),
        ),
    ),
    Declaration(
        Label.VARIABLE,
        Variable,
        (
            _ID,
            _PROJECT,
            _TRACE,
            _key("session_id", "session_k", Label.SESSION, is_optional=True),
            _text("external_id", "external_k"),
            _text("name", "name_k"),
            _text("class_name", "class_k", is_optional=True),
            _plain("version"),
            _plain("occurrence"),
            _word("kind", VariableKind),
            _text("category", "category_k", is_optional=True),
            _text("comment", "comment_k", is_optional=True),
            _value("preview", "text"),
            _value("value", "text", is_optional=True),
            _value("value_hash", "hash"),
            _value("size", "size"),
            _value("media_type", "media_type"),
            _plain("sequence"),
            _time("created_at"),
            _text("location", "location_k", is_optional=True),
            _text("attributes", "attributes_k"),
            _key("operation_id", "operation_k", Label.OPERATION, is_optional=True),
            _key("revision_of", "revision_k", Label.VARIABLE, is_optional=True),
            Column("right", Codec.FLAG, "is_right", is_optional=True),
        ),
    ),
    Declaration(
        Label.DERIVATION,
        Derivation,
        (
            _ID,
            _PROJECT,
            _TRACE,
            _key("source", "source_k", Label.VARIABLE),
            _key("target", "target_k", Label.VARIABLE),
            _key("operation_id", "operation_k", Label.OPERATION),
            _plain("external_id", is_optional=True),
            _word("kind", DerivationKind),
            _text("category", "category_k", is_optional=True),
            _text("comment", "comment_k", is_optional=True),
            _plain("sequence"),
            _time("created_at"),
            _text("location", "location_k", is_optional=True),
            _text("attributes", "attributes_k"),
        ),
    ),
    Declaration(
        Label.FAILURE,
        Failure,
        (
            _ID,
            _PROJECT,
            _TRACE,
            _word("origin", Origin),
            _key("question_id", "question_k", Label.VARIABLE),
            _key("answer_id", "answer_k", Label.VARIABLE, is_optional=True),
            _key("expected_id", "expected_k", Label.VARIABLE, is_optional=True),
            _list("evidence_ids"),
            _plain("question"),
            _plain("prediction", is_optional=True),
            _list("gold_answers"),
            _time("created_at"),
            _plain("attributes"),
        ),
    ),
    Declaration(
        Label.ATTRIBUTION,
        Attribution,
        (
            _ID,
            _PROJECT,
            _TRACE,
            _key("failure_id", "failure_k", Label.FAILURE),
            _word("error_type", ErrorType, is_optional=True),
            _key("operation_id", "operation_k", Label.OPERATION, is_optional=True),
            _plain("confidence", is_optional=True),
            _plain("method"),
            _plain("model", is_optional=True),
            _plain("reason", is_optional=True),
            _plain("evidence"),
            _plain("candidates"),
            _plain("tokens", is_optional=True),
            _plain("cost", is_optional=True),
            _plain("seconds", is_optional=True),
            _time("created_at"),
            _plain("author", is_optional=True),
            _plain("attributes"),
            _plain("losses"),
            _word("question_kind", QuestionKind, is_optional=True),
            _plain("proof", is_optional=True),
        ),
    ),
)

DECLARED: Mapping[Label, Declaration] = {one.label: one for one in _ALL}
"""The declaration of each label."""
