"""Masks, limits, sampling, and the place of here in headers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import memtrace
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memtrace import config, redact
from memtrace.exporters.memory import MemoryExporter
from memtrace.exporters.prepare import MASKED


@pytest.fixture
def exporter() -> Iterator[MemoryExporter]:
    yield MemoryExporter()
    memtrace.configure(exporter=MemoryExporter())


@pytest.mark.parametrize(
    ("mask", "text", "masked"),
    [
        (redact.emails, "write to ann.b+c@mail.example.org, or not", "write to [EMAIL], or not"),
        (redact.emails, "no@address a@b @c.de", "no@address a@b @c.de"),
        (redact.cards, "card 4111 1111 1111 1111.", "card [CARD]."),
        (redact.cards, "5500-0000-0000-0004", "[CARD]"),
        (redact.cards, "4111 1111 1111 1112 and 0000000000000000", "4111 1111 1111 1112 and 0000000000000000"),
        (redact.phones, "call +49 30 901820 or (030) 901-8200 now", "call [PHONE] or [PHONE] now"),
        (redact.phones, "555-123-4567", "[PHONE]"),
        (redact.phones, "in 2023-05-08, 13:56:00, 419 of 1200", "in 2023-05-08, 13:56:00, 419 of 1200"),
        (redact.tokens, "sk-abcdefghijklmnop1234 ghp_abcdefghijklmnopqrstuvwxyz", "[TOKEN] [TOKEN]"),
        (redact.tokens, "Authorization: Bearer abcdefghijklmnop.qrst", "Authorization: Bearer [TOKEN]"),
        (redact.tokens, "a task-force, sky-high", "a task-force, sky-high"),
    ],
)
def test_masks(mask: config.Redaction, text: str, masked: str) -> None:
    assert mask(text) == masked


@given(st.text(max_size=200))
def test_masks_take_any_text_and_masking_twice_changes_nothing(text: str) -> None:
    for mask in redact.EVERYTHING:
        assert mask(mask(text)) == mask(text)


def test_everything_is_masked_before_it_leaves(exporter: MemoryExporter) -> None:
    secret = "ann@mail.example"
    memtrace.configure(exporter=exporter, redact=redact.EVERYTHING)

    @memtrace.operation(attributes={"who": [secret], secret: 4111111111111111})
    def fails(text: str) -> None:
        raise ValueError(f"bad {secret}")

    with memtrace.trace(f"of {secret}", attributes={"a": {"b": secret}}), memtrace.session(comment=f"by {secret}"):
        memtrace.variable({secret: secret, "card": 4111111111111111}, "Message", f"name {secret}")
        with pytest.raises(ValueError, match="bad"):
            fails(f"text of {secret}")
    assert secret not in json.dumps(exporter.events)
    assert exporter.of("variable")[0]["value"] == '{"[EMAIL]":"[EMAIL]","card":"[CARD]"}'
    assert exporter.of("operationEnded")[0]["error"]["message"] == "bad [EMAIL]"


def test_a_mask_that_fails_hides_the_whole_text(exporter: MemoryExporter) -> None:
    def broken(text: str) -> str:
        raise RuntimeError(text)

    memtrace.configure(exporter=exporter, redact=[broken])
    with memtrace.trace():
        memtrace.variable("a secret text", "Message", "n")
    assert exporter.of("variable")[0]["value"] == MASKED
    assert "a secret text" not in json.dumps(exporter.events)


def test_a_long_value_is_cut_at_a_character_and_says_so(exporter: MemoryExporter) -> None:
    memtrace.configure(exporter=exporter, max_value_bytes=10)
    with memtrace.trace():
        memtrace.variable("äöüäöüäöü", "Message")
        memtrace.variable("0123456789", "Message")
        memtrace.variable({"a": "0123456789"}, "Message")
    cut, whole, json_ = exporter.of("variable")
    assert (cut["value"], cut["size"], cut["truncated"]) == ("äöüäö", 18, True)
    assert "truncated" not in whole
    assert (json_["value"], json_["mediaType"], json_["size"]) == ('{"a":"0123', "text/plain", 18)


def test_sampling_is_by_trace_and_the_same_everywhere(exporter: MemoryExporter) -> None:
    memtrace.configure(exporter=exporter, sampling=0.25)
    for _ in range(2):
        for number in range(400):
            with memtrace.trace(id=f"trace {number}") as trace:
                memtrace.variable("text", "Message")
                assert trace.is_recorded == config.is_sampled(trace.id)
    kept = {event["trace"] for event in exporter.of("variable")}
    assert 60 < len(kept) < 140
    assert len(exporter.of("variable")) == 2 * len(kept)


@pytest.mark.parametrize("arguments", [{"sampling": 1.5}, {"sampling": -1}, {"max_value_bytes": 0}])
def test_what_is_configured_wrongly_is_named(exporter: MemoryExporter, arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(arguments))):
        memtrace.configure(exporter=exporter, **arguments)


def test_headers_carry_the_place_and_keep_what_is_theirs(recorded: MemoryExporter) -> None:
    headers: dict[str, str] = {"baggage": "user=ann;p=1", "accept": "x"}
    with memtrace.trace(id="trace, with = signs ü"), memtrace.session(id="s 1"), memtrace.operation("caller"):
        memtrace.inject(headers)
    assert headers["accept"] == "x"
    assert headers["baggage"].endswith(",user=ann;p=1")
    assert headers["traceparent"].startswith("00-")
    assert headers["traceparent"].endswith("-01")
    with memtrace.extract({key.title(): text for key, text in headers.items()}), memtrace.operation("called"):
        again = memtrace.inject()
    caller, called = recorded.of("operationStarted")
    assert called["parent"] == caller["operation"]
    assert called["trace"] == "trace, with = signs ü"
    assert called["session"] == "s 1"
    assert again["traceparent"][3:35] == headers["traceparent"][3:35]
    assert memtrace.inject() == {}


def test_a_trace_that_is_not_sampled_is_not_sampled_anywhere(exporter: MemoryExporter) -> None:
    memtrace.configure(exporter=exporter, sampling=0.0)
    with memtrace.trace(id="left out"):
        headers = memtrace.inject()
    assert headers["traceparent"].endswith("-00")
    memtrace.configure(exporter=exporter, sampling=1.0)
    with memtrace.extract(headers):
        memtrace.variable("text", "Message")
        assert memtrace.inject()["traceparent"].endswith("-00")
    assert exporter.events == []


def test_headers_of_other_tracing_begin_a_trace_of_that_id(recorded: MemoryExporter) -> None:
    with memtrace.extract({"traceparent": f"00-{'ab' * 16}-{'cd' * 8}-01"}):
        memtrace.variable("text", "Message")
    assert {event["trace"] for event in recorded.events} == {"ab" * 16}


@given(st.dictionaries(st.sampled_from(["traceparent", "baggage", "Baggage"]), st.text(max_size=80)))
def test_any_headers_do_no_harm(headers: dict[str, str]) -> None:
    before = memtrace.fault_counts()
    with memtrace.extract(headers):
        memtrace.inject()
    assert memtrace.fault_counts() == before
