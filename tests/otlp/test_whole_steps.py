"""All events of a span of each dialect."""

from __future__ import annotations

import json

import pytest

from ingest.otlp import admission
from ingest.otlp.media_types import PROTOBUF
from tests.expected import compare
from tests.otlp.dialects import examples
from tests.otlp.spans import Sent, conversation, protobuf

SETS: dict[str, list[Sent]] = {
    "conversation": conversation(),
    **{f"{place:02}-{span.name.replace('/', ' ')}": [span] for place, (span, _) in enumerate(examples("t"))},
}


@pytest.mark.parametrize("name", SETS)
def test_events(name: str) -> None:
    read = admission.read("whole", protobuf(SETS[name]), PROTOBUF, 1_000)
    assert len(read.span_of) == len(read.pieces)
    found = {
        "refused": read.refused,
        "cut": read.cut,
        "events": [{"span": place} | json.loads(event) for place, event in zip(read.span_of, read.pieces, strict=True)],
    }
    compare(__file__, f"{name}.json", found)
