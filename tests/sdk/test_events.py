"""The wire events: what is written is read back, what is wrong is named, the committed schema is the models' own."""

import json
import subprocess
import sys
from datetime import UTC
from pathlib import Path

import jsonschema
import memtrace
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memtrace import events, kinds
from memtrace.exporters.prepare import Preparation, encoded
from memtrace.ids import new_id
from memtrace.raw_events import DERIVED, USED
from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from schema import kinds as platform_kinds

SCHEMA = Path(memtrace.__file__).with_name("events.schema.json")
TIME = "2030-01-31T12:00:00.000001Z"

text = st.text(min_size=1, max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def _event(model: type[BaseModel]) -> st.SearchStrategy[BaseModel]:
    known: dict[str, st.SearchStrategy[object]] = {
        "time": st.datetimes(timezones=st.just(UTC)),
        "attributes": st.dictionaries(st.text(max_size=5), json_values, max_size=3),
        "version": st.integers(0, 2**53 - 1),
        "occurrence": st.none() | st.integers(1, 2**53 - 1),
        "position": st.integers(0, 2**53 - 1),
        "rank": st.integers(0, 2**53 - 1),
        "size": st.none() | st.integers(0, 2**53 - 1),
        "gold": st.lists(st.text(max_size=9), max_size=3),
        "evidence": st.lists(text, max_size=3),
        "score": st.none() | st.floats(allow_nan=False, allow_infinity=False),
        "truncated": st.none() | st.booleans(),
        "returned": st.booleans(),
        "right": st.booleans(),
        "stored": st.booleans() if model is events.Derived else st.sampled_from([None, "written", "mentioned"]),
        "media_type": st.sampled_from(["text/plain", "application/json"]),
        "base": st.none() | st.builds(events.Base, variable=text, kept=st.integers(0, 9), size=st.integers(0, 9)),
        "error": st.none() | st.builds(events.Failed, type=text, message=text),
        "status": st.sampled_from(list(kinds.EndStatus)),
        "kind": st.sampled_from(list(_kind_of(model))),
    }
    fields = [name for name in model.model_fields if name not in {"v", "type"}]
    return st.builds(model, **{to_camel(name): known.get(name, text) for name in fields})


def _kind_of(model: type[BaseModel]) -> type[kinds.VariableKind | kinds.OperationKind | kinds.DerivationKind]:
    if model is events.VariableEvent:
        return kinds.VariableKind
    return kinds.DerivationKind if model is events.Derived else kinds.OperationKind


any_event = st.one_of([_event(model) for model in events.Event.__args__])


@given(st.lists(any_event, max_size=4))
def test_what_is_written_is_read_back(written: list[events.Event]) -> None:
    lines = [events.encode(event) for event in written]
    assert [events.decode(line) for line in lines] == written
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_bytes()))
    for line in lines:
        assert b"\n" not in line
        validator.validate(json.loads(line))


def test_the_committed_schema_is_the_models_own() -> None:
    printed = subprocess.run([sys.executable, "-m", "memtrace.events"], capture_output=True, check=True).stdout
    assert printed == SCHEMA.read_bytes()


@pytest.mark.parametrize("name", ["VariableKind", "OperationKind", "DerivationKind"])
def test_kinds_are_the_platforms(name: str) -> None:
    assert [item.value for item in getattr(kinds, name)] == [item.value for item in getattr(platform_kinds, name)]


def test_ends_are_states_of_the_platform() -> None:
    assert {item.value for item in kinds.EndStatus} < {item.value for item in platform_kinds.Status}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{", "not JSON"),
        (b"[]", "expected a JSON object, got list"),
        (b'{"type": "trace"}', "v: no version"),
        (b'{"v": 2}', "v: 2 is not supported; this side reads version 1"),
        (b'{"v": true}', "v: True"),
        (b'{"v": 1, "type": "nothing"}', "type: "),
        (b'{"v": 1, "type": "trace", "trace": "", "time": "%b"}' % TIME.encode(), "trace: "),
        (b'{"v": 1, "type": "trace", "trace": "t", "time": 12}', "time: "),
        (b'{"v": 1, "type": "trace", "trace": "t", "time": "2030-02-31T12:00:00.000000Z"}', "time: "),
        (b'{"v": 1, "type": "trace", "trace": "t", "time": "%b", "more": 1}' % TIME.encode(), "more: "),
        (b'{"v": 1, "type": "trace", "trace": "t", "time": "%b", "name": "\\ud800"}' % TIME.encode(), "name: "),
        (b'{"v": 1, "type": "trace", "trace": "t", "time": "%b", "attributes": {"a": NaN}}' % TIME.encode(), "NaN"),
        (
            b'{"v": 1, "type": "trace", "trace": "t", "time": "%b", "attributes": {"a": 1e999}}' % TIME.encode(),
            "number",
        ),
    ],
)
def test_what_is_wrong_is_named(line: bytes, said: str) -> None:
    with pytest.raises(events.EventError) as refused:
        events.decode(line)
    assert said in str(refused.value)


def test_an_error_never_quotes_a_value() -> None:
    secret = "sk-12345678901234567890"
    line = json.dumps({"v": 1, "type": "operationEnded", "trace": "t", "time": TIME, "status": secret})
    with pytest.raises(events.EventError) as refused:
        events.decode(line)
    assert secret not in str(refused.value)


@given(st.text(min_size=1, max_size=9), st.none() | st.text(min_size=1, max_size=9), st.none() | st.text(min_size=1))
def test_short_ways_to_the_wire_lead_to_the_same(trace: str, role: str | None, comment: str | None) -> None:
    prepare = Preparation()
    ids = [new_id() for _ in range(3)]
    found = [
        (USED, None, trace, 10**18, ids[0], ids[1], 3, role),
        (DERIVED, None if comment is None else {"comment": comment}, trace, 10**18, *ids, "Read"),
    ]
    for raw in found:
        short, whole = json.loads(prepare.line(raw)), json.loads(encoded(prepare(raw)))
        assert short.pop("derivation", None) != whole.pop("derivation", 0)
        assert short == whole
