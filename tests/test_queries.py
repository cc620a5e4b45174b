"""Texts of queries: templates are filled from closed lists alone, and what comes of them is what the engines know."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from importlib.resources import files

import apsw
import apsw.ext
import pytest

from ingest.queue.journal.queries import sql as journal_sql
from store.contract.answers import Direction, Label
from store.shared.texts import placeholders, texts_in
from store.sqlite.connections import add_functions
from store.sqlite.migrate import migrate
from store.sqlite.queries import FILLINGS, Table, sql

_STORE, _JOURNAL = "store.sqlite.queries", "ingest.queue.journal.queries"


class Elsewhere(StrEnum):
    TABLE = "trace; DROP TABLE trace"


def texts(package: str) -> Iterator[tuple[str, str]]:
    """All texts of a folder, as the files have them, by name."""
    for entry in files(package).iterdir():
        name, _, suffix = entry.name.partition(".")
        if suffix == "sql":
            for part, text in texts_in(entry.read_text("utf-8")).items():
                yield f"{name}.{part}" if part else name, text


TEXTS = dict(texts(_STORE))
_LATER = tuple(label for label in Label if label is not Label.TRACE)
ABOUT: dict[str, Iterable[StrEnum]] = {
    "annotation.assign": [Table.ASSIGNMENT],
    "annotation.assignments": [Table.ASSIGNMENT],
    "annotation.assignments_of_person": [Table.ASSIGNMENT],
    "annotation.of_person": [Table.QUEUE],
    "api_keys.find": [Table.API_KEY],
    "counts.of_label": _LATER,
    "elements.external": [Label.SESSION, Label.OPERATION],
    "elements.ids": Label,
    "elements.keys": _LATER,
    "elements.page": [Label.VARIABLE, Label.DERIVATION],
    "elements.prefix": _LATER,
    "elements.rows": [label for label in _LATER if label is not Label.VARIABLE],
    "elements.rows_by_target": [Label.DERIVATION],
    "elements.rows_with_value": [Label.VARIABLE],
    "elements.stored": _LATER,
    "jobs.page": [Table.JOB],
    "records.get": [Table.API_KEY, Table.JOB, Table.QUEUE],
    "records.page": [Table.API_KEY, Table.AUDIT_ENTRY, Table.QUEUE],
    "retention.claim": [Table.RETENTION_POLICY],
    "retention.get": [Table.RETENTION_POLICY],
    "retention.write": [Table.RETENTION_POLICY],
    "tables.insert": [*_LATER, Table.TEXT, Table.PACK, Table.VALUE, Table.WORDS, Table.MIGRATION],
    "tables.insert_new": [Table.USAGE, Table.INVALIDATION, Table.API_KEY, Table.JOB, Table.AUDIT_ENTRY, Table.QUEUE],
    "traces.insert": [Label.TRACE],
    "traces.rows": [Label.TRACE],
    "verdict_changes.of_failures": [Table.CHANGE],
    "verdict_changes.of_verdict": [Table.CHANGE],
    "verdict_changes.write": [Table.CHANGE],
    "walk.closure": Direction,
    "walk.derivations_of": Direction,
    "walk.step": Direction,
}
"""What each template is about."""


@pytest.fixture(scope="module")
def store_file() -> Iterator[apsw.Connection]:
    connection = apsw.Connection(":memory:")
    add_functions(connection)
    migrate(connection)
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def journal_file() -> Iterator[apsw.Connection]:
    connection = apsw.Connection(":memory:")
    migrate(connection, "journal")
    yield connection
    connection.close()


def test_the_templates_are_those_that_are_listed() -> None:
    assert {name for name, text in TEXTS.items() if placeholders(text)} == ABOUT.keys()


def test_every_placeholder_is_of_the_closed_list() -> None:
    known = set().union(*FILLINGS.values())
    found = {name: placeholders(text) for name, text in TEXTS.items()}
    assert {name for name, words in found.items() if words - known} == set()
    assert set().union(*found.values()) == known
    assert {name for name, text in texts(_JOURNAL) if placeholders(text)} == set()


def test_no_text_has_braces_but_of_placeholders() -> None:
    inserted = re.compile(r"\{\{(\w+|\w+\.\w+( \w+)?)\}\}")
    assert {name for name, text in TEXTS.items() if set("{}") & set(inserted.sub("", text))} == set()


@pytest.mark.parametrize(("package", "suffix"), [(_STORE, "sql"), ("store.neo4j.queries", "cypher")])
def test_every_fragment_is_said_by_several_texts(package: str, suffix: str) -> None:
    folder = files(package)
    inserted = Counter(
        found[1]
        for place in (folder, folder.joinpath("fragments"))
        for entry in place.iterdir()
        if entry.name.endswith(f".{suffix}")
        for found in re.finditer(r"\{\{(\w+\.\w+)(?: (?:\w+|\{\{it\}\}))?\}\}", entry.read_text("utf-8"))
    )
    there = {
        f"{entry.name.removesuffix(f'.{suffix}')}.{part}"
        for entry in folder.joinpath("fragments").iterdir()
        for part in texts_in(entry.read_text("utf-8"))
    }
    assert inserted.keys() == there
    assert min(inserted.values()) > 1


def test_the_closed_list_holds_names_and_nothing_else() -> None:
    """Names of tables and columns, joined by commas: nothing that could be a statement."""
    for words in FILLINGS.values():
        for word in words.values():
            assert re.fullmatch(r"[a-z_.]+(, [a-z_.]+)*|\?(, \?)*|NULL", word), word


def test_what_is_not_in_the_closed_list_is_refused() -> None:
    with pytest.raises(ValueError, match="no text is about"):
        sql("elements.keys", Elsewhere.TABLE)
    with pytest.raises(ValueError, match="that has no here"):
        sql("walk.step", Label.VARIABLE)
    with pytest.raises(ValueError, match="can't be about None"):
        sql("elements.keys")
    with pytest.raises(ValueError, match=r"there is no text elements\.nothing"):
        sql("elements.nothing", Label.TRACE)
    with pytest.raises(ValueError, match="there is no text nothing"):
        sql("nothing")
    with pytest.raises(ValueError, match="there is no text elements"):
        sql("elements", Label.TRACE)


@pytest.mark.parametrize("name", sorted(TEXTS.keys() - {"migrations.create"}))  # its table exists already
def test_sqlite_takes_every_text(store_file: apsw.Connection, name: str) -> None:
    for about in ABOUT.get(name, [None]):
        for statement in sql(name, about).removesuffix(";").split(";\n"):
            assert apsw.ext.query_info(store_file, statement).query


def test_a_name_is_looked_up_in_indexes(store_file: apsw.Connection) -> None:
    bound = dict.fromkeys(("hash", "name", "version", "project", "trace", "count"))
    plan = [row[3] for row in store_file.execute(f"EXPLAIN QUERY PLAN {sql('variables.named')}", bound)]
    assert [line.split(" (")[0] for line in plan[:2]] == [
        "SEARCH text USING INDEX text_by_hash",
        "SEARCH v USING INDEX variable_by_name",
    ]


@pytest.mark.parametrize(("name", "text"), list(texts(_JOURNAL)))
def test_sqlite_takes_every_text_of_the_journal(journal_file: apsw.Connection, name: str, text: str) -> None:
    assert journal_sql(name) in text
    assert apsw.ext.query_info(journal_file, text).query
