"""Which columns and lines of a list are printed: words of the command line, columns and members."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from api.cli.errors import UsageError
from api.cli.selection import EVERYTHING, Selection, chosen_columns, chosen_members, selection, taken


@pytest.mark.parametrize(
    ("words", "rest", "columns", "is_lines"),
    [
        ("answers --last 3", "answers --last 3", (), False),
        ("answers --columns id,question", "--csv answers", ("id", "question"), False),
        ("answers --columns=id --last 3", "--csv answers --last 3", ("id",), False),
        ("answers --fields id --select question", "--csv answers", ("id", "question"), False),
        ("answers --columns id, --json", "answers --json", ("id",), False),
        ("answers --columns id --format json", "answers --format json", ("id",), False),
        ("answers --columns id --format=text", "answers --format=text", ("id",), False),
        ("answers --columns id -f json", "answers -f json", ("id",), False),
        ("answers --columns id -j", "answers -j", ("id",), False),
        ("answers --csv --columns id", "answers --csv", ("id",), False),
        ("answers --jsonl", "--json answers", (), True),
        ("answers --format jsonl", "--json answers", (), True),
        ("answers --format=jsonl --columns id", "--json answers", ("id",), True),
        ("answers -f jsonl --last 1", "--json answers --last 1", (), True),
        ("answers --format json jsonl", "answers --format json jsonl", (), False),
        ("find -- --columns id", "find -- --columns id", (), False),
        ("answers --columns id -- word", "--csv answers -- word", ("id",), False),
    ],
)
def test_the_words_of_a_selection_are_taken_out(
    words: str, rest: str, columns: tuple[str, ...], is_lines: bool
) -> None:
    assert taken(words.split()) == (rest.split(), Selection(columns, is_lines))


@pytest.mark.parametrize("words", ["--columns", "--columns --json", "--fields=", "--select ,"])
def test_columns_need_names(words: str) -> None:
    name = words.partition(" ")[0].partition("=")[0]
    with pytest.raises(UsageError, match=f"^{name} needs the names of columns: {name} id,question$"):
        taken(["answers", *words.split()])


@pytest.fixture
def _chosen(request: pytest.FixtureRequest) -> Iterator[None]:
    """The selection of a test."""
    token = selection.set(Selection(tuple(request.param)))
    yield
    selection.reset(token)


KNOWN = ["id", "question", "Verdict"]


@pytest.mark.parametrize(
    ("_chosen", "found"),
    [((), KNOWN), (("question",), ["question"]), (("VERDICT", "id", "id"), ["Verdict", "id", "id"])],
    indirect=["_chosen"],
)
@pytest.mark.usefixtures("_chosen")
def test_columns_are_named_in_any_case(found: list[str]) -> None:
    assert list(chosen_columns(KNOWN)) == found


@pytest.mark.parametrize(
    ("_chosen", "told"),
    [
        (("verdicts",), "there is no column 'verdicts': did you mean Verdict? the columns are id, question, Verdict"),
        (("id", "zzz"), "there is no column 'zzz': the columns are id, question, Verdict"),
    ],
    indirect=["_chosen"],
)
@pytest.mark.usefixtures("_chosen")
def test_an_unknown_column_is_named(told: str) -> None:
    with pytest.raises(UsageError) as caught:
        chosen_columns(KNOWN)
    assert str(caught.value) == told


@pytest.mark.parametrize(
    ("_chosen", "documents", "found"),
    [
        ((), [{"id": 1, "b": 2}], [{"id": 1, "b": 2}]),
        (("b",), [{"id": 1, "b": 2}, {"id": 3}], [{"b": 2}, {"b": None}]),
        (("b",), [], []),
        (("b",), ["text"], ["text"]),
    ],
    indirect=["_chosen"],
)
@pytest.mark.usefixtures("_chosen")
def test_objects_have_the_chosen_members(documents: list[Any], found: list[Any]) -> None:
    assert chosen_members(documents) == found


def test_without_a_choice_everything_is_printed() -> None:
    assert selection.get() == EVERYTHING == Selection((), False)
