"""Each published form is read, and broken files are refused with file and place."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import zstandard

from optimization.harness.datasets.form import checked, iso_time, point_in_time, with_known_evidence
from optimization.harness.datasets.model import Conversation, Dataset, Message, Question, Session
from optimization.harness.datasets.registry import FORMS, read_dataset
from schema.errors import InputError
from tests.data import needs_data, trace_files
from tests.optimization.harness import miniatures

SESSION = Session("s", (Message("m", "Ada", "I like tea."),))
QUESTION = Question("q", "What does Ada like?", ("tea",))


def _written(folder: Path, content: Any, name: str = "file.json") -> Path:
    path = folder / name
    if name.endswith(".jsonl"):
        path.write_text("".join(json.dumps(line) + "\n\n" for line in content), "utf-8")
    else:
        path.write_text(json.dumps(content, indent=1), "utf-8")
    return path


def test_locomo(tmp_path: Path) -> None:
    found = read_dataset(_written(tmp_path, miniatures.locomo()))
    assert (found.form, [one.user for one in found.conversations]) == ("locomo", ["conv-1", "conv-2"])
    first = found.conversations[0]
    assert [session.id for session in first.sessions] == ["session_1", "session_2", "session_3"]
    assert first.sessions[0].messages == (
        Message("D1:1", "Ann", "My dog is called Bo.", datetime(2026, 5, 1, 13, 56, tzinfo=UTC)),
        Message("D1:2", "Ben", "Nice! [picture: a photo of a dog]", datetime(2026, 5, 1, 13, 56, tzinfo=UTC)),
    )
    assert first.questions[0] == Question("q1", "What is the dog called?", ("Bo",), ("D1:1",), "single-hop")
    assert first.questions[3].gold == ("2",)
    assert first.questions[3].evidence == ("D1:1", "D2:1")
    assert (first.questions[4].gold, first.questions[4].kind) == ((), "adversarial")
    assert found.unknown_evidence == ("conv-1 q5 D:99", "conv-2 q5 D:99")


def test_longmemeval(tmp_path: Path) -> None:
    found = read_dataset(_written(tmp_path, miniatures.longmemeval()))
    assert found.form == "longmemeval"
    first, _, last = found.conversations
    assert [session.id for session in first.sessions] == ["earlier", "earlier#2", "later"]
    asked_at = datetime(2026, 5, 30, 10, tzinfo=UTC)
    assert first.questions == (
        Question("q1", "What is the dog called?", ("Bo",), ("later:1",), "single-session-user", None, asked_at),
    )
    assert last.questions[0].gold == ()


def test_realmem(tmp_path: Path) -> None:
    found = read_dataset(_written(tmp_path, miniatures.realmem(), "Ann_Example_dialogues_256k.json"))
    (conversation,) = found.conversations
    assert (found.form, conversation.user) == ("realmem", "Ann_Example")
    assert conversation.questions == (
        Question(
            "Q-0001",
            "How often do I walk?",
            ("Three times a week.",),
            ("aa11:1",),
            "Static",
            "bb22:1",
            datetime(2026, 5, 2, tzinfo=UTC),
        ),
    )
    assert [message.id for session in conversation.sessions for message in session.messages] == [
        "aa11:1", "aa11:2", "bb22:1", "bb22:2", "bb22:3",
    ]  # fmt: skip


def test_memtracebench(tmp_path: Path) -> None:
    found = read_dataset(_written(tmp_path, miniatures.memtracebench()))
    (conversation,) = found.conversations
    assert (found.form, conversation.user) == ("memtracebench", "user-1")
    assert [len(session.messages) for session in conversation.sessions] == [2, 1]
    assert conversation.sessions[0].messages[0] == Message(
        "m1", "Ann", "My dog is called Mia.", datetime(2026, 5, 1, 10, tzinfo=UTC)
    )
    assert conversation.questions[1].gold == ("Lyon",)
    assert conversation.questions[1].evidence == ("m2",)


@pytest.mark.parametrize("name", ["file.jsonl", "file.json"])
def test_lines(tmp_path: Path, name: str) -> None:
    path = _written(tmp_path, miniatures.lines(), name)
    if name == "file.json":
        path.write_text("".join(json.dumps(line) + "\n" for line in miniatures.lines()), "utf-8")
    found = read_dataset(path)
    assert (found.form, len(found.conversations)) == ("lines", 2)
    assert found.conversations[0].sessions[0].messages[0].time == datetime(2026, 5, 1, 10, tzinfo=UTC)


def test_a_compressed_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "locomo10.json.zst"
    path.write_bytes(zstandard.compress(json.dumps(miniatures.locomo()).encode()))
    assert read_dataset(path).form == "locomo"


def test_a_folder_of_files_is_one_data_set(tmp_path: Path) -> None:
    for name in ("Ann", "Ben"):
        content = miniatures.realmem()
        content["dialogues"][1]["dialogue_turns"][2]["memory_used"].append({"session_uuid": "aa11", "content": "x"})
        _written(tmp_path, content, f"{name}_dialogues_256k.json")
    (tmp_path / "readme.txt").write_text("no data", "utf-8")
    found = read_dataset(tmp_path)
    assert (found.form, [one.user for one in found.conversations]) == ("realmem", ["Ann", "Ben"])
    _written(tmp_path, miniatures.locomo(), "locomo10.json")
    with pytest.raises(InputError, match="holds data sets of several forms: locomo, realmem"):
        read_dataset(tmp_path)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match=r"empty: holds no data set \(\.json, \.jsonl, \.ndjson"):
        read_dataset(empty)
    _written(empty, miniatures.locomo(), "a.json")
    assert len(read_dataset(empty).unknown_evidence) == 2
    _written(empty, miniatures.locomo(), "b.json")
    with pytest.raises(InputError, match="two conversations have the user 'conv-1'"):
        read_dataset(empty)


def test_each_file_has_one_form() -> None:
    for make in (
        miniatures.locomo,
        miniatures.longmemeval,
        miniatures.realmem,
        miniatures.memtracebench,
        miniatures.lines,
    ):
        assert [form.name for form in FORMS if form.recognises(make())] == [make.__name__]


def _without(content: Any, *path: Any) -> Any:
    target = content
    for part in path[:-1]:
        target = target[part]
    del target[path[-1]]
    return content


def _with(content: Any, value: Any, *path: Any) -> Any:
    target = content
    for part in path[:-1]:
        target = target[part]
    target[path[-1]] = value
    return content


BROKEN: list[tuple[Callable[[], Any], str]] = [
    (lambda: _without(miniatures.locomo(), 1, "qa", 0, "question"), r"\[1\]\.qa\[0\]\.question: Field required"),
    (
        lambda: _with(miniatures.locomo(), 7, 0, "conversation", "session_2"),
        r"\[0\]\.conversation\.session_2: must be a",
    ),
    (
        lambda: _without(miniatures.locomo(), 0, "conversation", "session_1_date_time"),
        r"session_1_date_time: is missing",
    ),
    (
        lambda: _with(miniatures.locomo(), "yesterday", 0, "conversation", "session_1_date_time"),
        r"'yesterday' is no time of the form",
    ),
    (
        lambda: _with(miniatures.locomo(), "D1:2", 0, "conversation", "session_1", 0, "dia_id"),
        r"two messages have .*D1:2",
    ),
    (lambda: _with(miniatures.locomo(), "conv-2", 0, "sample_id"), r"two conversations have the user 'conv-2'"),
    (lambda: _with(miniatures.locomo(), {"speaker_a": "x"}, 0, "conversation"), r"has no message"),
    (lambda: _with(miniatures.longmemeval(), ["x"], 0, "haystack_session_ids"), r"3 sessions, but 1 ids and 3 dates"),
    (
        lambda: _without(miniatures.longmemeval(), 2, "haystack_sessions", 0, 1, "content"),
        r"\[0\]\[1\]\.content: Field",
    ),
    (
        lambda: _with(miniatures.realmem(), "2026", "dialogues", 1, "current_time"),
        r"dialogues\[1\]\.current_time: '2026'",
    ),
    (
        lambda: _without(miniatures.realmem(), "dialogues", 0, "dialogue_turns", 1, "content"),
        r"dialogue_turns\[1\]\.cont",
    ),
    (lambda: _without(miniatures.memtracebench(), "data", "nodes", 1, "value"), r"data\.nodes\[1\]\.value: Field requ"),
    (lambda: _without(miniatures.memtracebench(), "data", "annotations", 0, "query"), r"data\.annotations\[0\]\.query"),
    (lambda: _with(miniatures.lines(), 1, 1, "answers"), r"line 2\.answers: Extra inputs are not permitted"),
    (lambda: _with(miniatures.lines(), "x", 0, "questions", 0, "after"), r"after the message 'x', which is not there"),
    (
        lambda: _with(miniatures.lines(), "May", 0, "sessions", 0, "time"),
        r"line 1\.sessions\[0\]\.time: 'May' is no time",
    ),
    (lambda: _with(miniatures.lines(), " ", 0, "questions", 0, "question"), r"the question 'q1' has no text"),
    (lambda: {"some": "thing"}, r"no data set of a form that is known \(locomo, longmemeval, realmem"),
    (list, r"no data set of a form"),
]


@pytest.mark.parametrize(("make", "message"), BROKEN)
def test_what_is_broken_is_refused_with_file_and_place(tmp_path: Path, make: Callable[[], Any], message: str) -> None:
    path = _written(tmp_path, make())
    with pytest.raises(InputError, match=message) as error:
        read_dataset(path)
    assert str(error.value).startswith(str(path))


def test_what_is_no_json_is_refused_with_its_place(tmp_path: Path) -> None:
    cut = tmp_path / "cut.json"
    cut.write_text(json.dumps(miniatures.locomo(), indent=1)[:500], "utf-8")
    with pytest.raises(InputError, match=r"cut\.json: is no JSON: Input data was truncated"):
        read_dataset(cut)
    line = tmp_path / "line.jsonl"
    line.write_text(json.dumps(miniatures.lines()[0]) + "\n{\n", "utf-8")
    with pytest.raises(InputError, match=r"line\.jsonl: line 2: is no JSON"):
        read_dataset(line)


@needs_data
def test_recorded_benchmarks_are_read() -> None:
    found: list[Dataset] = [read_dataset(path) for path in trace_files("bench/mem0")]
    assert found
    for dataset in found:
        (conversation,) = dataset.conversations
        assert all(question.gold for question in conversation.questions)
        assert dataset.unknown_evidence == ()
        assert sum(len(session.messages) for session in conversation.sessions) > 300


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-05-01", datetime(2024, 5, 1, tzinfo=UTC)),
        ("1/2/2024", datetime(2024, 2, 1, tzinfo=UTC)),
        ("May 1", None),
        ("", None),
    ],
)
def test_a_time_has_one_of_the_forms(text: str, moment: datetime | None) -> None:
    forms = ("%Y-%m-%d", "%d/%m/%Y")
    if moment is not None:
        assert point_in_time(text, forms, "f", "p") == moment
        return
    with pytest.raises(InputError, match="is no time of the form %Y-%m-%d or %d/%m/%Y"):
        point_in_time(text, forms, "f", "p")


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        (None, None),
        ("2024-05-01T10:00:00", datetime(2024, 5, 1, 10, tzinfo=UTC)),
        ("2024-05-01T10:00:00+02:00", datetime(2024, 5, 1, 8, tzinfo=UTC)),
        ("2024-05-01T10:00:00Z", datetime(2024, 5, 1, 10, tzinfo=UTC)),
    ],
)
def test_a_time_in_iso_8601(text: str | None, moment: datetime | None) -> None:
    assert iso_time(text, "f", "p") == moment


def test_no_time_in_iso_8601() -> None:
    with pytest.raises(InputError, match="f: p: 'soon' is no time in ISO 8601"):
        iso_time("soon", "f", "p")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"sessions": ()}, "the conversation of 'u' has no message"),
        ({"sessions": (SESSION, SESSION)}, "two sessions have the id 's'"),
        ({"sessions": (SESSION, replace(SESSION, id="t"))}, "two messages have the id 'm'"),
        ({"questions": (QUESTION, QUESTION)}, "two questions have the id 'q'"),
        ({"questions": (replace(QUESTION, text=" "),)}, "the question 'q' has no text"),
        ({"questions": (replace(QUESTION, after="x"),)}, "comes after the message 'x', which is not there"),
        ({"questions": (replace(QUESTION, after="m"),)}, None),
        ({"questions": ()}, None),
    ],
)
def test_a_conversation_is_checked(change: dict[str, Any], problem: str | None) -> None:
    conversation = replace(Conversation("u", (SESSION,), (QUESTION,)), **change)
    if problem is None:
        assert checked(conversation, "f", "p") is conversation
        return
    with pytest.raises(InputError) as caught:
        checked(conversation, "f", "p")
    assert problem in str(caught.value)
    assert str(caught.value).startswith("f: p: ")


def test_references_to_unknown_messages_are_taken_out_and_told() -> None:
    question = replace(QUESTION, evidence=("m", "x", "m", "y"))
    found, unknown = with_known_evidence(Conversation("u", (SESSION,), (question,)))
    assert found == Conversation("u", (SESSION,), (replace(QUESTION, evidence=("m",)),))
    assert unknown == ["u q x", "u q y"]
