"""Small parts of the recorder that decide by themselves: where recognising, refusing, keeping and silence begin."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import memtrace
import pytest
from memtrace import off, smartcomment, told
from memtrace.exporters.memory import MemoryExporter
from memtrace.kinds import MAX_NAME_CHARACTERS
from memtrace.replay import keeping
from memtrace.replay.adding import added, put_into
from memtrace.replay.do import UNSET
from memtrace.stored_units import _name, newest_unit, store_unit, stored_unit


def _trace(*texts: str) -> Any:
    trace: Any = SimpleNamespace(notes={})
    for text in texts:
        told.tell(trace, text, text)  # type: ignore[arg-type]
    return trace


@pytest.mark.parametrize(
    ("known", "text", "wanted"),
    [
        ((), "[1 May] Ann: Hi there.", None),
        (("Hi there.",), "[1 May] Ann: Hi there.", "Hi there."),
        (("Hi there.",), "Hi there.", "Hi there."),
        ((" Hi there.\n",), "Ann: Hi there.", " Hi there.\n"),
        (("Hi there.",), "Hi the", None),
        (("Hi there.",), "x" * 200 + "Hi there.", "Hi there."),
        (("Hi there.",), "x" * 201 + "Hi there.", None),
        (("Yes",), "Ann: Yes", "Yes"),
        (("No",), "Ann: No", None),
        (("there", "Hi there."), "Ann: Hi there.", "Hi there."),
        (("Hi there.", "there"), "Ann: Hi there.", "Hi there."),
        (("Hi there. ", "Hi there."), "Ann: Hi there.", "Hi there."),
        (("Hi there.", *(f"text {n}" for n in range(63))), "Ann: Hi there.", "Hi there."),
        (("Hi there.", *(f"text {n}" for n in range(64))), "Ann: Hi there.", None),
    ],
)
def test_the_message_inside_a_longer_text(known: tuple[str, ...], text: str, wanted: str | None) -> None:
    found: Any = told.told_inside(_trace(*known), text)
    assert found == wanted


@pytest.mark.parametrize(
    ("text", "is_known"), [("x" * 12, True), ("x" * 11, False), (" " + "x" * 11, False), (" " + "x" * 12, True)]
)
def test_an_argument_of_a_tool_is_long_enough_to_be_known(text: str, is_known: bool) -> None:
    trace = _trace()
    for reply in ("first", "second"):
        told.ask_for(trace, text, reply)  # type: ignore[arg-type]
    found: Any = told.asked_for(trace, text)
    assert found == ("second" if is_known else None)
    assert told.asked_for(trace, text + " ") is None


@pytest.mark.parametrize(
    ("value", "text", "before", "annotation", "wanted"),
    [
        ("one", "new", None, str, "one\nnew"),
        ("one", "new", "absent", str, "one\nnew"),
        ("one", "new", "", str, "one\nnew"),
        ("one\ntwo\nthree", "new", "wo", str, "one\nnew\ntwo\nthree"),
        ("a\nb\na", "new", "a", str, "a\nb\nnew\na"),
        ("one", "new", "one", str, "new\none"),
        (["one"], "new", None, None, ["one", "new"]),
        (("one",), "new", None, None, ("one", "new")),
        (["one", 2], "new", None, list[str], UNSET),
        ([], "new", None, list[str], ["new"]),
        ([], "new", None, Sequence[str], ["new"]),
        ((), "new", None, tuple[str, ...], ("new",)),
        ([], "new", None, list[int], UNSET),
        ([], "new", None, list, UNSET),
        ([], "new", None, dict[str, str], UNSET),
        ([], "new", None, None, UNSET),
        ({"a": "b"}, "new", None, None, UNSET),
        (None, "new", None, None, UNSET),
    ],
)
def test_a_text_is_added_to_a_result(value: Any, text: str, before: str | None, annotation: Any, wanted: Any) -> None:
    kept = list(value) if isinstance(value, list) else value
    assert added(value, text, before, annotation) == wanted
    assert value == kept


@pytest.mark.parametrize(
    ("value", "is_put"), [([], True), (["one"], True), (["one", 2], False), (("one",), False), ("one", False)]
)
def test_a_text_is_put_into_a_list_of_texts(value: Any, is_put: bool) -> None:
    size = len(value)
    assert put_into(value, "new") is is_put
    assert len(value) == size + is_put
    assert not is_put or value[-1] == "new"


@pytest.mark.parametrize("program", ["", "module", "module:", ":run", "module:outer.<locals>.run", "__main__:run"])
def test_a_program_that_no_other_process_can_import_is_refused(program: str) -> None:
    with pytest.raises(ValueError, match="program must be module:function, and importable by that name"):
        keeping.begin("t", program, {})


@pytest.mark.parametrize(
    ("most", "left"), [(30, ["old", "newer", "newest"]), (29, ["newer", "newest"]), (20, ["newer", "newest"]), (9, [])]
)
def test_the_oldest_kept_traces_make_room_once(
    tmp_path: Path, most: int, left: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    monkeypatch.setattr(keeping, "MAX_BYTES", most)
    monkeypatch.setattr(keeping, "_has_room", False)
    keeping._make_room(tmp_path / "absent")
    for time, name in enumerate(["old", "newer", "newest"], 1):
        (tmp_path / name / "state").mkdir(parents=True)
        (tmp_path / name / "state" / "data").write_bytes(b"x" * 10)
        os.utime(tmp_path / name, (time, time))
    for _ in range(2):
        keeping._make_room(tmp_path)
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(left)
        monkeypatch.setattr(keeping, "MAX_BYTES", 0)  # the second time nothing is removed


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (lambda: stored_unit("v", store=5, id="i"), "store must be a text, got "),  # type: ignore[arg-type]
        (lambda: stored_unit("v", store="s", id=None), "id must be a text, got "),  # type: ignore[arg-type]
        (lambda: stored_unit("v", store="s", id="i", version=2), "version must be a text, got "),  # type: ignore[arg-type]
        (lambda: store_unit("v", store="s", id=b"i"), "id must be a text, got "),  # type: ignore[arg-type]
        (lambda: store_unit("v", store="s", id="i", revises="w"), "revises must be what stored_unit or store_unit "),
    ],
)
def test_a_unit_that_is_named_wrongly_is_told(act: Any, reason: str, caplog: pytest.LogCaptureFixture) -> None:
    memtrace.configure(exporter=MemoryExporter())
    with memtrace.trace(), memtrace.operation("write", kind="Update"):
        assert act() is None
    assert reason in caplog.text
    assert act() is None  # nothing is recorded outside of a trace


def test_the_newest_version_of_a_unit_by_any_spelling_of_its_id(recorded: MemoryExporter) -> None:
    plain, other = "0123456789abcdef0123456789abcdef", "01234567-89AB-CDEF-0123-456789ABCDEF"
    assert newest_unit(store="s", id=plain) is None
    with memtrace.trace():
        first = store_unit("one", store="s", id=plain)
        assert first is not None
        assert newest_unit(store="s", id=other) is first
        assert newest_unit(store="t", id=plain) is None
        assert stored_unit("one", store="s", id="{" + other + "}") is first
        assert store_unit("one", store="s", id=other) is first  # an equal value makes no new version
        second = store_unit({"b": 1, "a": 2}, store="s", id=f"urn:uuid:{other}", attributes={"by": "me"}, version="2")
        assert second is not None
        assert (second.version, newest_unit(store="s", id=plain)) == (1, second)
    (event,) = [one for one in recorded.events if one["type"] == "variable" and one["version"] == 1]
    assert event["value"] == '{"a":2,"b":1}'
    stored = {"store": "s", "storeId": other.lower(), "storeVersion": "2", "by": "me"}
    assert {name: event["attributes"].get(name) for name in stored} == stored


@pytest.mark.parametrize(("extra", "is_plain"), [(0, True), (1, False)])
def test_the_name_of_a_unit_has_a_largest_length(extra: int, is_plain: bool) -> None:
    store = "s" * (MAX_NAME_CHARACTERS - len("i in ") + extra)
    found = _name((store, "i"))
    assert (found == f"i in {store}") is is_plain
    assert len(found) <= MAX_NAME_CHARACTERS
    assert found != _name((store, "j"))


@pytest.mark.parametrize(
    ("zone", "wanted"), [("Europe/Berlin", "Europe/Berlin"), (":Asia/Tokyo", "Asia/Tokyo"), ("UTC", "UTC")]
)
def test_the_zone_of_a_graphs_times(zone: str, wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    assert smartcomment._zone() == wanted


class _Clock:
    """A clock in a zone that is some seconds away from UTC."""

    def __init__(self, offset: int) -> None:
        self.offset = offset

    def now(self) -> Any:
        return SimpleNamespace(astimezone=lambda: SimpleNamespace(utcoffset=lambda: self.offset))


def test_a_machine_in_another_zone_than_utc_has_to_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", ":")
    monkeypatch.setattr(smartcomment, "datetime", _Clock(0))
    assert smartcomment._zone() == "UTC"
    monkeypatch.setattr(smartcomment, "datetime", _Clock(3600))
    with pytest.raises(ValueError, match="timezone: name the zone of the graph's times, such as Europe/Berlin"):
        smartcomment._zone()


async def test_what_is_switched_off_gives_back_what_it_got() -> None:
    def fn() -> int:
        return 5

    value = object()
    assert off.operation(fn) is fn
    assert off.operation("name", "Update")(fn) is fn
    assert off.trace(fn) is fn
    assert off.trace("name", session="s")(fn) is fn
    assert (off.variable(value, "Message"), off.bind(value, value), off.carry(value)) == (value, value, value)
    off_session: Any = off.session
    with off.operation("name") as block, off.trace() as trace, off_session("s") as session, off_session([]) as change:
        for one in (block, trace, session, change):
            assert (one.id, one.is_recorded) == ("", False)
            assert one.input(value, "name", kind="Message") is value
            assert one.output(value) is value
    async with off.operation("name") as block:
        assert block.output(5) == 5
    assert off.mutation is off.session
    for nothing in (off.link, off.deleted, off.retrieved, off.feedback, off.find, off.store_unit, off.newest_unit):
        assert nothing(value, more=1) is None
    with pytest.raises(ValueError, match="kept"), off.operation("name"):
        raise ValueError("kept")


def test_each_failure_is_logged_once_for_each_line(caplog: pytest.LogCaptureFixture) -> None:
    from memtrace import faults

    caplog.set_level(logging.DEBUG, "memtrace")
    before = memtrace.fault_counts().get("a part", 0)
    for _ in range(3):
        faults.report("a part", ValueError("secret"))
    faults.count("a part")
    faults.report("a part", ValueError("secret"))
    assert memtrace.fault_counts()["a part"] == before + 5
    warnings = [one.getMessage() for one in caplog.records if one.levelno == logging.WARNING]
    assert len(warnings) == len(set(warnings)) == 2
    assert all("a part failed" in one and "(ValueError)" in one and "secret" not in one for one in warnings)
    for sort in ("a sort", "a sort", "another sort"):
        faults.warn(sort, "advice on %s", sort)
    assert [one for one in caplog.messages if "advice" in one] == ["advice on a sort", "advice on another sort"]
