"""How pages write stored data."""

from __future__ import annotations

from itertools import pairwise

import pytest

from api.web.pages import judging, words
from api.web.pages.failure import runs
from api.web.pages.queue import _keyless
from schema.kinds import ErrorType, QuestionKind


def test_every_word_of_the_schema_is_explained() -> None:
    assert list(words.ERROR_TYPES) == [kind.value for kind in ErrorType]
    assert set(words.QUESTION_KINDS) == {kind.value for kind in QuestionKind}


def test_each_operation_can_be_chosen_and_the_answering_one_has_a_key_whatever_verdicts_say() -> None:
    def operation(sequence: int) -> dict[str, object]:
        return {"id": f"o{sequence}", "sequence": sequence}

    failure = {"suspects": [operation(number) for number in range(20)]}
    verdict = {"operation": operation(30), "candidates": [], "losses": []}
    for verdicts in ([], [verdict]):
        offered = judging.operations(failure, verdicts)
        keys = judging.letters(failure, offered)
        assert [one["id"] for one in offered] == [f"o{one}" for one in [*range(20), *([30] if verdicts else [])]]
        assert keys == {f"o{number}": key for number, key in zip([*range(18), 19], judging.LETTERS, strict=True)}
    few = {"suspects": [operation(5)]}
    assert judging.letters(few, judging.operations(few, [verdict])) == {"o5": "a", "o30": "b"}


@pytest.mark.parametrize(
    ("text", "quotes", "shown"),
    [
        ("abc def", ["def"], "abc [def]"),
        ("abc def", ["abc", "def"], "[abc] [def]"),
        ("abcdef", ["abcd", "cdef"], "[abcd][ef]"),
        ("abc", ["abc", "b"], "[abc]"),
        ("Mara and MARA", ["mara"], "[Mara] and MARA"),
        ("abc", ["x", None, ""], "abc"),
        ("", ["x"], ""),
        ("İx", ["x"], "İ[x]"),
    ],
)
def test_quotes_are_marked_in_their_place(text: str, quotes: list[str | None], shown: str) -> None:
    parts = words.marked(text, quotes)
    assert "".join(part for part, _ in parts) == text
    assert "".join(f"[{part}]" if is_quote else part for part, is_quote in parts) == shown


def test_a_quote_that_stands_later_in_the_value_is_shown_by_itself() -> None:
    assert words.quoted("begin", "end") == [("… ", False), ("end", True), (" …", False)]
    assert words.quoted("a begin z", "begin") == [("a ", False), ("begin", True), (" z", False)]
    assert words.quoted("begin", None) == [("begin", False)]
    assert words.quoted("", None) == []
    shown = words.quoted("x" * 1000 + "here" + "y" * 1000, "here")
    assert [is_quote for _, is_quote in shown] == [False, True, False]
    assert sum(len(text) for text, _ in shown) < 600


def _lines(rows: list[tuple[str, list[tuple[str, str]]]], *which: str) -> list[str]:
    return ["".join(text for text, _ in parts) for what, parts in rows if what in which]


def test_lines_are_compared_word_by_word() -> None:
    unified = "--- a\n+++ b\n@@ -1,3 +1,3 @@\n same\n-I live in Leeds\n-gone\n+I moved to Leeds\n@@ -9 +9 @@\n+--- new"
    rows = words.difference(unified)
    assert [what for what, _ in rows] == ["same", "gone", "gone", "new", "gap", "new"]
    assert _lines(rows, "same", "gone") == ["same", "I live in Leeds", "gone"]
    assert _lines(rows, "same", "new") == ["same", "I moved to Leeds", "--- new"]
    changed = [text for what, parts in rows if what == "new" for text, kind in parts if kind == "new"]
    assert changed == ["moved", "to", "--- new"]
    assert words.difference("") == [("same", [("", "same")])]


def test_a_long_line_is_shown_as_it_is() -> None:
    line = "word " * 3000
    rows = words.difference(f"-{line}a\n+{line}b")
    assert [[kind for _, kind in parts] for _, parts in rows] == [["gone"], ["new"]]


@pytest.mark.parametrize(
    ("count", "said"),
    [(1, "1 byte"), (999, "999 bytes"), (1500, "1.5 KB"), (2_000_000, "2.0 MB"), (3 * 10**12, "3,000.0 GB")],
)
def test_sizes(count: int, said: str) -> None:
    assert words.size(count) == said


def test_refusals_are_sentences_without_ids() -> None:
    unfit = f"operation: {'ab' * 16!r} is of kind Update, which can't be at fault for ResponseError"
    assert words.refusal(unfit) == (
        "The operation is of kind Update, which can't be at fault for this: response error."
    )
    # A page describes the rows of a file in the words of files.
    label = "labels: line 1: primary.type: 'RetrivalError' is no error type; did you mean RetrievalError?"
    assert words.refusal(label).endswith("did you mean RetrievalError?")


def test_traces_of_one_name_are_told_apart() -> None:
    found = [{"name": name, "externalId": id_} for name, id_ in (("agent", "a"), ("other", "b"), ("agent", "c"))]
    assert words.told_apart(found) == ["agent (a)", "other", "agent (c)"]


def test_times() -> None:
    assert words.moment(None) == "not recorded"
    assert words.moment("2026-01-31T12:05:59.000000Z") == "31 Jan 2026, 12:05 UTC"
    assert words.lasted("2026-01-31T12:00:00Z", "2026-01-31T12:00:00.250000Z") == "250 ms"
    assert words.lasted("2026-01-31T12:00:00Z", "2026-01-31T12:01:01.500000Z") == "61.5 s"
    assert words.lasted(None, "2026-01-31T12:00:00Z") == "not recorded"


def _step(holds: bool, kind: str, by: str) -> dict[str, object]:
    return {"holds": holds, "variable": {"kind": kind}, "operation": {"name": by, "kind": "Update"}, "quote": None}


def test_steps_that_are_alike_are_one_run() -> None:
    path = [_step(True, "Message", "")] + [_step(True, "Buffer", "add")] * 5 + [_step(False, "Buffer", "add")] * 2
    found = runs([*path, _step(False, "Answer", "answer")])
    assert [(run.count, run.state) for run in found] == [(1, "held"), (5, "held"), (2, "lost"), (1, "gone")]
    assert all(one.step != other.step for one, other in pairwise(found))
    assert runs([]) == []


def test_a_revoked_key_is_no_key() -> None:
    listed = [{"person": "Ada", "revokedAt": "2026-03-01T00:00:00Z"}, {"person": "Ben", "revokedAt": None}]
    assert _keyless(["Ada", "Ben"], {"pageInfo": {"hasNextPage": False}, "nodes": listed}) == ["Ada"]


def test_almost_impossible_candidates_are_not_told() -> None:
    candidates = [{"confidence": one} for one in (0.6, 0.05, 0.049, 0.0, None)]
    assert [one["confidence"] for one in words.possible(candidates)] == [0.6, 0.05, None]
