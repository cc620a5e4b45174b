"""Programs that are run over a data set: finding a program, the requests of a program behind HTTP, and refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from memtrace.exporters import purpose
from memtrace.exporters.purpose import FILE, Purpose
from memtrace.program.adapters.chat import Chat
from memtrace.program.adapters.heading import PLAIN, with_date, with_heading
from memtrace.program.adapters.http import HttpProgram
from memtrace.program.adapters.prompts import filled
from memtrace.program.loading import ProgramError, load, takes_time
from memtrace.program.outside import OutsideMemory
from memtrace.program.protocol import Message

NOON = datetime(2025, 3, 4, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("memtrace", "'memtrace' is no program: write module:name, such as my_agent.memory:Agent"),
        (":Agent", "':Agent' is no program: write module:name, such as my_agent.memory:Agent"),
        ("memtrace:", "'memtrace:' is no program: write module:name, such as my_agent.memory:Agent"),
        ("no_such_one:Agent", "no_such_one:Agent: there is no module no_such_one (searched from {})"),
        ("no_such_one.sub:A", "no_such_one.sub:A: there is no module no_such_one (searched from {})"),
        ("memtrace.none:A", "memtrace.none:A: there is no module memtrace.none (searched from {})"),
        ("memtrace.ids:none", "memtrace.ids:none: the module memtrace.ids has no none"),
        ("memtrace.ids:new_id.none", "memtrace.ids:new_id.none: the module memtrace.ids has no new_id.none"),
        (
            "memtrace.ids:__name__",
            "memtrace.ids:__name__: a program is a class, or a function that makes one, not a str",
        ),
    ],
)
def test_what_is_no_program_is_named(name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["", *__import__("sys").path])
    with pytest.raises(ProgramError) as caught:
        load(name)
    assert str(caught.value) == message.format(tmp_path)


def test_programs_of_the_current_folder_are_found_and_what_they_miss_is_told_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(__import__("sys").path))
    (tmp_path / "program_of_a_test.py").write_text("class A:\n    class B:\n        pass\n", "utf-8")
    (tmp_path / "program_that_misses.py").write_text("import no_such_library\n", "utf-8")
    assert load("program_of_a_test:A.B").__qualname__ == "A.B"
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        load("program_that_misses:A")


def _by_place(question: str, time: datetime, /) -> str:
    return f"{question}{time}"


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        (lambda question: "", False),
        (lambda question, time: "", True),
        (lambda question, *, time=None: "", True),
        (lambda question, **more: "", True),
        (lambda question, *time: "", False),
        (_by_place, False),
        (5, False),
        (type, False),
    ],
)
def test_whether_an_answer_takes_the_time(answer: Any, wanted: bool) -> None:
    assert takes_time(answer) is wanted


class _Program:
    def __init__(self) -> None:
        self.done: list[tuple[str, Path]] = []

    def save(self, path: Path) -> None:
        path.mkdir(exist_ok=True)
        self.done.append(("save", path))

    def restore(self, path: Path) -> None:
        self.done.append(("restore", path))


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        (["save"], "my:A has a method save() and no restore(): both belong together"),
        (["restore"], "my:A has a method restore() and no save(): both belong together"),
    ],
)
def test_both_methods_of_an_outside_memory_belong_together(methods: list[str], message: str) -> None:
    with pytest.raises(ProgramError) as caught:
        OutsideMemory.of("my:A", SimpleNamespace(**dict.fromkeys(methods, print)), print)
    assert str(caught.value) == message
    assert OutsideMemory.of("my:A", SimpleNamespace(save=1, restore=None), print) is None


def test_an_outside_memory_is_saved_or_restored_at_the_beginning_and_put_back(tmp_path: Path) -> None:
    program = _Program()
    new = OutsideMemory.of("my:A", program, lambda value: value)
    assert new is not None
    new.put_back()  # nothing is saved yet
    new.begin(tmp_path / "new")
    assert [what for what, _ in program.done] == ["save"]
    assert (tmp_path / "new").is_dir()
    new.put_back()
    assert program.done[1:] == [("restore", tmp_path / "new")]
    (tmp_path / "old").mkdir()
    again = OutsideMemory.of("my:A", program, lambda value: value)
    assert again is not None
    again.begin(tmp_path / "old")
    again.put_back()
    assert program.done[2:] == [("restore", tmp_path / "old")] * 2
    replayed = OutsideMemory.of("my:A", program, lambda value: value)
    assert replayed is not None
    replayed.begin(None)
    replayed.put_back()
    assert len(program.done) == 4


Answer = Callable[[httpx.Request], httpx.Response]


def _behind(made: Any, answer: Answer) -> list[httpx.Request]:
    """Let a function answer the requests of a program or chat; returns the requests."""
    asked: list[httpx.Request] = []

    def kept(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return answer(request)

    old = made._client
    made._client = httpx.Client(base_url=old.base_url, headers=old.headers, transport=httpx.MockTransport(kept))
    return asked


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> HttpProgram:
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    monkeypatch.setenv("MEMTRACE_PROGRAM_URL", "http://host/base/")
    return HttpProgram(user="u", prompts={"answer": "new"}, folder=tmp_path)


def _said(request: httpx.Request) -> tuple[str, Any]:
    return str(request.url), json.loads(request.content)


def test_a_program_behind_http_needs_its_address(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MEMTRACE_PROGRAM_URL", raising=False)
    with pytest.raises(ProgramError, match="set MEMTRACE_PROGRAM_URL to the address of the memory system"):
        HttpProgram(user="u", prompts={}, folder=tmp_path)


def test_what_a_program_behind_http_is_sent(program: HttpProgram) -> None:
    asked = _behind(program, lambda _: httpx.Response(200, json={"answer": 5}))
    program.add([Message("m1", "Mara", "Hi.", NOON, "s1"), Message("m2", "Leo", "Oh.", None, "s1")])
    assert (program.answer("Who?"), program.answer("Who?", NOON)) == ("5", "5")
    body = {"user": "u", "prompts": {"answer": "new"}}
    assert [_said(one) for one in asked] == [
        (
            "http://host/base/add",
            body
            | {
                "session": "s1",
                "messages": [
                    {"id": "m1", "speaker": "Mara", "text": "Hi.", "time": "2025-03-04T12:30:00+00:00"},
                    {"id": "m2", "speaker": "Leo", "text": "Oh.", "time": None},
                ],
            },
        ),
        ("http://host/base/answer", body | {"question": "Who?"}),
        ("http://host/base/answer", body | {"question": "Who?", "time": "2025-03-04T12:30:00+00:00"}),
    ]


@pytest.mark.parametrize(
    ("status", "own", "wanted"),
    [
        (200, {"answer": "old", "more": "kept"}, {"answer": "new", "more": "kept"}),
        (404, {"answer": "old", "more": "kept"}, {"answer": "new"}),
    ],
)
def test_the_prompts_of_a_program_behind_http(program: HttpProgram, status: int, own: Any, wanted: Any) -> None:
    asked = _behind(program, lambda _: httpx.Response(status, json=own))
    assert program.prompts() == wanted
    assert _said(asked[0]) == ("http://host/base/prompts", {"user": "u"})


@pytest.mark.parametrize(("status", "is_kept"), [(200, True), (404, False)])
def test_what_a_program_behind_http_saves_is_sent_back(
    program: HttpProgram, tmp_path: Path, status: int, is_kept: bool
) -> None:
    asked = _behind(program, lambda request: httpx.Response(200 if "restore" in str(request.url) else status, json=[1]))
    program.save(tmp_path)
    program.restore(tmp_path)
    assert (tmp_path / "saved.json").exists() is is_kept
    wanted: list[Any] = [("http://host/base/save", {"user": "u"})]
    wanted += [("http://host/base/restore", {"user": "u", "saved": [1]})] if is_kept else []
    assert [_said(one) for one in asked] == wanted


@pytest.mark.parametrize("status", [400, 404, 500])
def test_a_refusal_of_a_program_behind_http_is_told(program: HttpProgram, status: int) -> None:
    _behind(program, lambda _: httpx.Response(status, text="x" * 301))
    with pytest.raises(ProgramError) as caught:
        program.answer("Who?")
    assert str(caught.value) == f"POST http://host/base/answer gave {status}: {'x' * 300}"


def _reply(content: str | None) -> httpx.Response:
    return httpx.Response(200, json={"choices": [{"message": {"content": content}}]})


AGAIN = [408, 409, 425, 429, 500, 502, 503, 504]


@pytest.mark.parametrize(
    ("answers", "wanted", "count"),
    [
        ([_reply("Yes.")], "Yes.", 1),
        ([_reply(None)], "", 1),
        *[([httpx.Response(status), _reply("Yes.")], "Yes.", 2) for status in AGAIN],
        ([httpx.Response(500)] * 3 + [_reply("Yes.")], "Yes.", 4),
        ([httpx.Response(500, text="x" * 301)] * 5, f"the model's server answered 500: {'x' * 300}", 4),
        ([httpx.Response(401, text="no")], "the model's server answered 401: no", 1),
        ([httpx.Response(501, text="no")], "the model's server answered 501: no", 1),
    ],
)
def test_a_model_is_asked_four_times(
    answers: list[httpx.Response], wanted: str, count: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    for name, value in [("MODEL", "m"), ("BASE_URL", "http://h/v1/"), ("API_KEY", "k")]:
        monkeypatch.setenv("MEMTRACE_PROGRAM_MODEL" if name == "MODEL" else f"OPENAI_{name}", value)
    left = iter(answers)
    chat = Chat()
    asked = _behind(chat, lambda _: next(left))
    if wanted.startswith("the model's"):
        with pytest.raises(ProgramError) as caught:
            chat.reply("Who?")
        assert str(caught.value) == wanted
    else:
        assert chat.reply("Who?") == wanted
    assert len(asked) == count
    body = {"model": "m", "temperature": 0, "messages": [{"role": "user", "content": "Who?"}]}
    assert _said(asked[-1]) == ("http://h/v1/chat/completions", body)
    assert asked[0].headers["Authorization"] == "Bearer k"


def test_without_a_key_none_is_sent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert "Authorization" not in Chat()._client.headers


@pytest.mark.parametrize(
    ("plain", "time", "said", "asked"),
    [
        (None, NOON, "Mara (2025-03-04 12:30): Hi.", "Who? (asked on 2025-03-04)"),
        (None, None, "Mara: Hi.", "Who?"),
        *[
            (off, NOON, "Mara (2025-03-04 12:30): Hi.", "Who? (asked on 2025-03-04)")
            for off in ("", "0", "No", " off ")
        ],
        ("false", None, "Mara: Hi.", "Who?"),
        ("1", NOON, "Hi.", "Who?"),
        ("yes", None, "Hi.", "Who?"),
    ],
)
def test_who_said_a_message_and_when(
    plain: str | None, time: datetime | None, said: str, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(PLAIN, raising=False)
    if plain is not None:
        monkeypatch.setenv(PLAIN, plain)
    assert with_heading(Message("m", "Mara", "Hi.", time, "s")) == said
    assert with_date("Who?", time) == asked


def test_the_notes_and_the_question_of_a_prompt() -> None:
    assert (
        filled("N:\n{notes}\nQ: {question} {other}", ["one", "{question}"], "Who?")
        == "N:\n- one\n- Who?\nQ: Who? {other}"
    )
    assert filled("{notes}|{question}", [], "") == "|"


@pytest.mark.parametrize(
    ("endpoint", "key", "project", "wanted"),
    [
        ("https://me:secret@h:1/x?q=1", None, None, Purpose("https://h:1/x", None, None)),
        ("http://h", "mt_0123456789abcdef_secret", "p", Purpose("http://h", "p", "mt_0123456789abcdef")),
        ("http://h", "mt_0123456789abcdefsecret", "p", Purpose("http://h", "p", None)),
        ("http://h", "other", "", Purpose("http://h", "", None)),
    ],
)
def test_the_purpose_of_a_spool_tells_no_secret(
    endpoint: str, key: str | None, project: str | None, wanted: Purpose, tmp_path: Path
) -> None:
    found = Purpose.of(endpoint, key, project)
    assert found == wanted
    assert purpose.read(tmp_path) is None
    found.write(tmp_path)
    assert purpose.read(tmp_path) == wanted
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
    before = (tmp_path / FILE).stat().st_ino
    found.write(tmp_path)  # the file says the same already
    assert (tmp_path / FILE).stat().st_ino == before


@pytest.mark.parametrize(
    "text",
    ["", "no JSON", "[]", "{}", '{"endpoint": "e", "project": "p"}', '{"endpoint": 5, "project": null, "key": null}',
     '{"endpoint": "e", "project": 5, "key": null}', '{"endpoint": "e", "project": null, "key": 5}'],
)  # fmt: skip
def test_a_file_that_tells_no_purpose(text: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(text, "utf-8")
    assert purpose.read(tmp_path) is None


def test_a_purpose_that_can_not_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    with pytest.raises(OSError, match=FILE):
        Purpose("http://h", None, None).write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
