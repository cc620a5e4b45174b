"""How requests are written in each dialect, and which dialect is tried after a refusal."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from attribution.llm.transport.dialect import NEWER_LIMIT, OLDER_LIMIT, Dialect, Format, Schema

SYSTEM, ASKED = {"role": "system", "content": "You judge."}, {"role": "user", "content": "Is it?"}
SCHEMA = Schema("Judgement", {"type": "object"})
TOOL: dict[str, Any] = {"type": "function"}


def body(dialect: Dialect, **more: Any) -> dict[str, Any]:
    return dialect.body("m", [SYSTEM, ASKED], 300, 0.5, **more)


def test_a_request_without_a_schema_has_no_format() -> None:
    for form in Format:
        assert body(Dialect(format=form)) == {
            "model": "m",
            "messages": [SYSTEM, ASKED],
            "max_tokens": 300,
            "temperature": 0.5,
        }


def test_the_limit_has_the_name_that_the_server_knows() -> None:
    assert body(Dialect(NEWER_LIMIT, temperature=False), tools=[TOOL]) == {
        "model": "m",
        "messages": [SYSTEM, ASKED],
        "max_completion_tokens": 300,
        "tools": [TOOL],
    }


def test_a_schema_is_sent_as_the_server_can_take_it() -> None:
    strict = body(Dialect(), schema=SCHEMA)
    assert strict["messages"] == [SYSTEM, ASKED]
    assert strict["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "Judgement", "schema": {"type": "object"}, "strict": True},
    }
    for form, said in ((Format.OBJECT, {"type": "json_object"}), (Format.TEXT, None)):
        found = body(Dialect(format=form), schema=SCHEMA)
        assert found.get("response_format") == said
        first, *others = found["messages"]
        assert first["role"] == "system"
        assert first["content"].startswith("You judge.\n\nReply with one JSON object")
        assert '{"type": "object"}' in first["content"].replace('":"', '": "')
        assert others == [ASKED]
    assert SYSTEM["content"] == "You judge."


ALL = [Dialect(*one) for one in product((OLDER_LIMIT, NEWER_LIMIT), (True, False), Format)]


def test_a_merged_dialect_has_what_both_have() -> None:
    order = list(Format)
    for one, other in product(ALL, ALL):
        both = one.merged(other)
        assert both == other.merged(one)
        assert both.temperature is (one.temperature and other.temperature)
        assert (both.output_limit == OLDER_LIMIT) is (one.output_limit == other.output_limit == OLDER_LIMIT)
        assert order.index(both.format) == max(order.index(one.format), order.index(other.format))


@pytest.mark.parametrize(
    ("dialect", "complaint", "structured", "weaker"),
    [
        (Dialect(), "Unsupported value: 'temperature'", False, Dialect(temperature=False)),
        (Dialect(), "TEMPERATURE is fixed", True, Dialect(temperature=False)),
        (Dialect(), "use max_completion_tokens, not max_tokens", False, Dialect(NEWER_LIMIT)),
        (Dialect(), "Max_Tokens and temperature", False, Dialect(temperature=False)),
        (Dialect(temperature=False), "temperature", False, None),
        (Dialect(temperature=False), "temperature", True, Dialect(temperature=False, format=Format.OBJECT)),
        (Dialect(NEWER_LIMIT), "max_tokens", False, None),
        (Dialect(), "no", False, None),
        (Dialect(), "no", True, Dialect(format=Format.OBJECT)),
        (Dialect(format=Format.OBJECT), "no", True, Dialect(format=Format.TEXT)),
        (Dialect(format=Format.TEXT), "no", True, None),
    ],
)
def test_a_refusal_leads_to_the_next_dialect(
    dialect: Dialect, complaint: str, structured: bool, weaker: Dialect | None
) -> None:
    assert dialect.weaker(complaint, structured=structured) == weaker


def test_every_way_of_refusals_ends() -> None:
    for dialect, complaint in product(ALL, ("temperature max_tokens", "max_tokens", "temperature", "no")):
        tried: list[Dialect] = []
        following: Dialect | None = dialect
        while following is not None:
            tried.append(following)
            following = following.weaker(complaint, structured=True)
            assert len(tried) <= 5
        assert len(set(tried)) == len(tried)
