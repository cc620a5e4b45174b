"""`memtrace fail --file` marks the wrong answers of a file, all or none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from api.cli.context import DEFAULT_PROJECT
from api.cli.gold_file import GoldLine, read_gold
from schema.errors import InputError
from schema.kinds import OperationKind, VariableKind
from tests.cli.conftest import Cli
from tests.factory import TraceBuilder


def test_csv_with_many_names_of_columns() -> None:
    for header in ("id,gold", "Answer ID,Right Answer", "answer,expected", "answerId,other,goldAnswers"):
        row = "abc,x,Berlin" if "other" in header else "abc,Berlin"
        assert read_gold(f"{header}\n{row}\n".encode(), "f") == [GoldLine(2, "abc", ("Berlin",))], header
    for header in ("question,answer", "Question;Correct answer", "question\ttruth"):
        row = "Where?" + next(one for one in ",;\t" if one in header) + "Berlin"
        assert read_gold(f"\ufeff{header}\r\n{row}\r\n".encode(), "f") == [GoldLine(2, "Where?", ("Berlin",))], header


def test_lines_are_counted_where_a_text_has_several() -> None:
    data = b'question,gold\n"Where\nexactly?","In a\ntown"\n,x\nWhen?,\nWhen?,a,b\n'
    assert read_gold(data, "f") == [
        GoldLine(2, "Where\nexactly?", ("In a\ntown",)),
        GoldLine(5, "", ("x",), "names neither an answer nor a question"),
        GoldLine(6, "When?", ()),
        GoldLine(7, "", (), "has more than 2 columns"),
    ]


def test_the_id_comes_before_the_question() -> None:
    data = b"id,question,right,gold\nabc,Where?,false,Berlin\n,When?,,May\n"
    found = read_gold(data, "f")
    assert [(line.named, line.question) for line in found] == [("abc", "Where?"), ("When?", "")]


def test_json_as_lines_and_as_a_list() -> None:
    objects = [
        {"question": "Where?", "answer": "Berlin"},
        {"id": "abc", "gold": ["Berlin", "Berlin, Germany"]},
        {"id": "abc", "gold": 7},
        {"id": "abc", "gold": {"a": 1}},
        {"id": "abc"},
        3,
    ]
    expected = [
        ("Where?", ("Berlin",), ""),
        ("abc", ("Berlin", "Berlin, Germany"), ""),
        ("abc", ("7",), ""),
        ("abc", (), "gold is neither a text nor a list of texts"),
        ("", (), "has id; it needs `id` (of the answer) or `question`, and `gold` (the right answer)"),
        ("", (), "is no JSON object"),
    ]
    for text in ("\n".join(map(json.dumps, objects[:5])) + "\n\n3\n", json.dumps(objects)):
        found = read_gold(text.encode(), "f")
        assert [(line.named, line.gold, line.problem) for line in found] == expected
    (_, broken) = read_gold(b'{"id": "a", "gold": "b"}\n{"id": \n', "f")
    assert (broken.number, broken.problem[:11]) == (2, "is no JSON:")


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "missing; it needs `id`"),
        (b"name,text\na,b\n", "the columns are name, text; it needs `id`"),
        (b"id,gold\n", "no lines with right answers"),
        (b"id,gold\n\xff,b\n", "byte 8: is not UTF-8"),
        (b'id,gold\n"a,b\n', "line 2: "),
        (b"[1", "is no JSON"),
    ],
)
def test_a_file_that_is_none_is_refused(data: bytes, problem: str) -> None:
    with pytest.raises(InputError, match="f: .*" + problem.replace("(", r"\(")):
        read_gold(data, "f")


@pytest.fixture
def chat(stored: Callable[[TraceBuilder], Cli]) -> Cli:
    """Three questions and their answers; the last question was asked twice."""
    trace = TraceBuilder(DEFAULT_PROJECT, "chat")
    for name, asked, said in (
        ("a", "Which pet?", "a cat"),
        ("b", "Where?", "in Bonn"),
        ("c", "When?", "May"),
        ("d", "When?", "July"),
    ):
        question = trace.variable(f"q{name}", asked, kind=VariableKind.QUERY)
        step = trace.operation(f"o{name}", kind=OperationKind.GENERATION)
        trace.use(step, question)
        trace.derive(trace.variable(f"said-{name}", said, by=step, kind=VariableKind.ANSWER), question, by=step)
    return stored(trace)


def _golds(cli: Cli) -> dict[str, list[str]]:
    return {one["answerExternalId"]: one["goldAnswers"] for one in cli("failures", "--json").json}


def test_many_answers_are_marked_at_once(chat: Cli, tmp_path: Path) -> None:
    file = tmp_path / "gold.csv"
    file.write_text('id,question,gold\nsaid-a,,a dog\n,where?,"[""in Berlin"",""Berlin""]"\nsaid-c,,\n')
    done = chat("fail", "--file", str(file))
    assert "Recorded: 2 wrong answers. 1 line without a right answer left out." in done.err
    assert _golds(chat) == {"said-a": ["a dog"], "said-b": ["in Berlin", "Berlin"]}
    again = chat("fail", str(file), "--json").json
    assert [one["answerExternalId"] for one in again] == ["said-a", "said-b"]


def test_a_line_that_does_not_fit_stops_all(chat: Cli, tmp_path: Path) -> None:
    file = tmp_path / "gold.jsonl"
    lines = [
        {"id": "said-a", "gold": "a dog"},
        {"question": "When?", "gold": "June"},
        {"question": "Who?", "gold": "Bo"},
        {"id": "said-b", "gold": "In Bonn."},
        {"id": "said-a", "gold": "a bird"},
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    refused = chat("fail", "--from", str(file), code=4).err.splitlines()
    assert [line.partition(":")[0] for line in refused] == ["line 2", "line 3", "line 4", "line 5", "error"]
    assert "ambiguous" in refused[0]
    assert "'Who?'" in refused[1]
    assert "is the right answer itself: memtrace right" in refused[2]
    assert "line 1 has another right answer" in refused[3]
    assert "4 of 5 lines do not fit, so nothing was recorded" in refused[4]
    assert _golds(chat) == {}


def test_a_list_of_answers_with_a_column_more_is_such_a_file(chat: Cli, tmp_path: Path) -> None:
    header, *rows = chat("answers", "--format", "csv").out.splitlines()
    file = tmp_path / "answers.csv"
    file.write_text("\n".join([f"{header},gold", f"{rows[0]},a dog", *(f"{row}," for row in rows[1:])]))
    chat("fail", "--file", str(file))
    assert _golds(chat) == {"said-a": ["a dog"]}


def test_a_file_leaves_no_room_for_one_answer(chat: Cli, tmp_path: Path) -> None:
    assert "leave out ANSWER" in chat("fail", "said-a", "--file", "gold.csv", code=2).err
    assert "can't be read" in chat("fail", "--file", str(tmp_path / "none.csv"), code=1).err


def test_the_question_of_a_line_decides_between_two(stored: Callable[[TraceBuilder], Cli], tmp_path: Path) -> None:
    trace = TraceBuilder(DEFAULT_PROJECT, "two")
    asked = [trace.variable(f"q{n}", text, kind=VariableKind.QUERY) for n, text in enumerate(["Which pet?", "Whose?"])]
    step = trace.operation("step", kind=OperationKind.GENERATION)
    trace.use(step, *asked)
    trace.derive(trace.variable("said", "a cat", by=step, kind=VariableKind.ANSWER), *asked, by=step)
    cli = stored(trace)
    file = tmp_path / "gold.csv"
    file.write_text("id,gold\nsaid,a dog\n")
    assert "it may be one of 2" in cli("fail", "--file", str(file), code=4).err
    file.write_text("id,question,gold\nsaid,whose,Bo's cat\n")
    cli("fail", "--file", str(file))
    (failure,) = cli("failures", "--json").json
    assert failure["question"] == "Whose?"
