"""Events with only the new part of a value: the graph has the whole value, or the event is refused with a reason."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memtrace.events import Event

from ingest.events.taking import take_events
from ingest.events.values import portions
from schema.models import Variable
from store.contract.answers import Label
from store.contract.protocol import Database, GraphStore
from tests.ingest.test_events import Sender, project_of


def growing(trace: str) -> tuple[list[Event], dict[str, str]]:
    """Events of a buffer's versions with only the new parts (some versions are shorter), and the whole values."""
    sender = Sender(trace)
    texts = {"b@0": "äöü, " * 600}
    sender.variable("b@0", "Buffer", texts["b@0"])
    for version in range(1, 12):
        before = texts[f"b@{version - 1}"]
        kept = len(before) - (700 if version % 4 == 0 else 1)
        rest = f"message {version} " * 20 if version != 6 else ""
        texts[f"b@{version}"] = before[:kept] + rest
        sender.variable(
            f"b@{version}",
            "Buffer",
            rest,
            version=version,
            revisionOf=f"b@{version - 1}",
            base={"variable": f"b@{version - 1}", "kept": kept, "size": len(texts[f"b@{version}"].encode())},
        )
    return sender.events, texts


async def _check_values(store: GraphStore, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        found = await store.resolve(name, Label.VARIABLE)
        assert isinstance(found, Variable)
        assert (await store.value(found)).decode() == text
        assert (found.size, found.preview, found.attributes) == (len(text.encode()), text[:500], "{}")


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.sets(st.integers(1, 11), max_size=4), again=st.integers(0, 3))
async def test_values_said_by_what_is_new_are_whole_however_they_come(
    database: Database, cuts: set[int], again: int
) -> None:
    store = project_of(database)
    events, texts = growing("t")
    places = [0, *sorted(cuts), len(events)]
    for start, end in pairwise(places):
        assert await take_events(store, events[max(0, start - again) : end]) == []
    await _check_values(store, texts)


async def test_many_rebuilt_values_are_written_in_portions(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.events.values.PORTION_BYTES", 10_000)
    events, texts = growing("t")
    numbered = list(enumerate(events))
    parts = list(portions(numbered))
    assert len(parts) > 3
    assert [one for part in parts for one in part] == numbered
    store = project_of(database)
    assert await take_events(store, events) == []
    await _check_values(store, texts)


@pytest.mark.parametrize("is_stored", [False, True])
async def test_a_value_whose_beginning_is_not_there_is_refused_alone(database: Database, is_stored: bool) -> None:
    store = project_of(database)
    sender = Sender("t")
    text = "hello, " * 500
    sender.variable("m", "Message", text)
    sender.variable("early", "Buffer", "!", base={"variable": "nobody", "kept": 3, "size": 4})
    sender.variable("long", "Buffer", "!", base={"variable": "m", "kept": 3501, "size": 3502})
    sender.variable("wrong", "Buffer", "!", base={"variable": "m", "kept": 3500, "size": 3500})
    sender.variable("itself", "Buffer", "!", base={"variable": "itself", "kept": 3500, "size": 3501})
    sender.variable("huge", "Buffer", "!", base={"variable": "m", "kept": 3500, "size": 2**40})
    sender.variable("good", "Buffer", "!", base={"variable": "m", "kept": 3500, "size": 3501})
    refused = []
    if is_stored:
        assert await take_events(store, sender.events[:1]) == []
        for index, event in enumerate(sender.events[1:], 1):
            refused += [(index, one) for one in await take_events(store, [event])]
    else:
        refused = [(one.index, one) for one in await take_events(store, sender.events)]
    assert [(index, one.is_early) for index, one in refused] == [
        (1, True),
        (2, False),
        (3, False),
        (4, True),
        (5, False),
    ]
    assert [one.reason for _, one in refused] == [
        "base: there is no variable 'nobody' in this trace",
        "base.kept: 3501 characters, but the value of 'm' has 3500",
        "base.size: 3500 bytes, but the whole value comes to 3501",
        "base: there is no variable 'itself' in this trace",
        f"base.size: {2**40} bytes; a value is rebuilt up to {64 << 20}",
    ]
    await _check_values(store, {"m": text, "good": text + "!"})


@pytest.mark.parametrize("is_together", [True, False])
async def test_what_begins_with_a_cut_value_is_cut_where_the_end_of_it_is_gone(
    database: Database, is_together: bool
) -> None:
    store = project_of(database)
    sender = Sender("t")
    sender.variable("cut", "Buffer", "abc" * 1000, truncated=True, size=9000)
    sender.variable("longer", "Buffer", "more", base={"variable": "cut", "kept": 8999, "size": 9003})
    sender.variable("next", "Buffer", "", base={"variable": "longer", "kept": 9003, "size": 9003})
    sender.variable("shorter", "Buffer", "]", base={"variable": "next", "kept": 2999, "size": 3000})
    sender.variable(
        "end", "Buffer", "", truncated=True, size=9999, base={"variable": "shorter", "kept": 3000, "size": 3000}
    )
    for events in [sender.events] if is_together else [[event] for event in sender.events]:
        assert await take_events(store, events) == []
    found = {}
    for name in ("longer", "next", "shorter", "end"):
        variable = await store.resolve(name, Label.VARIABLE)
        assert isinstance(variable, Variable)
        found[name] = (await store.value(variable)).decode(), variable.attributes
    text = "abc" * 1000
    assert found == {
        "longer": (text, '{"truncatedFrom":9003}'),
        "next": (text, '{"truncatedFrom":9003}'),
        "shorter": (text[:2999] + "]", "{}"),
        "end": (text[:2999] + "]", '{"truncatedFrom":9999}'),
    }


async def test_a_beginning_that_is_no_unicode_is_refused_with_its_like(database: Database) -> None:
    store = project_of(database)
    sender = Sender("t")
    sender.variable("bad", "Message", "\ud800" * 1000)
    sender.variable("next", "Message", "!", base={"variable": "bad", "kept": 1000, "size": 3001})
    sender.variable("good", "Message", "good")
    assert [one.index for one in await take_events(store, sender.events)] == [0, 1]
    await _check_values(store, {"good": "good"})
