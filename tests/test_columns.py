"""The declaration of columns says what the models have, and what the layout of SQLite has."""

from __future__ import annotations

from dataclasses import fields
from types import NoneType
from typing import get_args, get_type_hints

import apsw
import pytest

from schema.errors import StoreError
from schema.kinds import ErrorType
from schema.models import Attribution, Derivation, Failure, Operation, Session, Trace, Variable
from store.contract.answers import Label
from store.shared.columns import DECLARED, Codec
from store.sqlite.migrate import migrate
from store.sqlite.queries import written_columns

_KEPT_BY_THE_STORE = {Label.TRACE: {"written_at"}}
"""Columns that no field of the model is in."""

_TYPES = {
    Codec.ID: "BLOB",
    Codec.PROJECT: "TEXT",
    Codec.TRACE: "INTEGER",
    Codec.KEY: "INTEGER",
    Codec.TEXT: "INTEGER",
    Codec.WORD: "TEXT",
    Codec.TIME: "INTEGER",
    Codec.LIST: "TEXT",
}


def test_every_element_is_declared() -> None:
    models = (Trace, Session, Operation, Variable, Derivation, Failure, Attribution)
    assert [declared.model for declared in DECLARED.values()] == list(models)
    assert [label.value for label in DECLARED] == [model.__name__ for model in models]


@pytest.mark.parametrize("label", Label)
def test_the_columns_are_the_fields_of_the_model(label: Label) -> None:
    declared = DECLARED[label]
    assert [column.name for column in declared.columns] == [item.name for item in fields(declared.model)]
    hints = get_type_hints(declared.model)
    for column in declared.columns:
        types = get_args(hints[column.name]) or (hints[column.name],)
        assert column.is_optional == (NoneType in types), column
        assert column.words is None or column.words in types, column


@pytest.mark.parametrize("label", Label)
def test_the_columns_are_those_of_the_table(label: Label) -> None:
    connection = apsw.Connection(":memory:")
    migrate(connection)
    info = connection.execute(f"SELECT name, type, \"notnull\" FROM pragma_table_info('{label.lower()}') WHERE pk = 0")
    stored = {name: (not is_required, type_) for name, type_, is_required in info}
    declared = DECLARED[label]
    assert {"k", *stored} == {*written_columns(declared), *_KEPT_BY_THE_STORE.get(label, set())}
    for column in declared.columns:
        if column.sql and column.codec is not Codec.VALUE:
            is_optional, type_ = stored[column.sql]
            assert is_optional == column.is_optional, column
            assert type_ == _TYPES.get(column.codec, type_), column


def test_a_word_of_a_newer_version_is_named() -> None:
    column = next(one for one in DECLARED[Label.ATTRIBUTION].columns if one.name == "error_type")
    assert column.word_of["RetrievalError"] is ErrorType.RETRIEVAL
    assert column.word_of[None] is None
    with pytest.raises(StoreError, match="errorType 'FormattingError', which this version of MemTrace does not know"):
        list(map(column.word_of.__getitem__, ["FormattingError"]))
