"""Calls of tools that models write as text are understood, in all usual forms."""

from __future__ import annotations

import time
from typing import Any

import pytest

from attribution.llm.transport.text_calls import calls_in, without_thoughts

NAMES = ("search", "step", "propose_verdict")
SEARCH = {"words": "grey parrot"}
STEP = {"variable": "v1", "direction": "back"}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('```json\n{"name": "search", "arguments": {"words": "grey parrot"}}\n```', [("search", SEARCH)]),
        (
            'I will search.\n```\n{"tool": "search", "args": {"words": "grey parrot"}}\n```\nThen I decide.',
            [("search", SEARCH)],
        ),
        ('<tool_call>\n{"name": "search", "arguments": {"words": "grey parrot"}}\n</tool_call>', [("search", SEARCH)]),
        (
            (
                '<tool_call>{"name": "search", "arguments": "{\\"words\\": \\"grey parrot\\"}"}</tool_call>\n'
                '<tool_call>{"name": "step", "arguments": {"variable": "v1", "direction": "back"}}'
            ),
            [("search", SEARCH), ("step", STEP)],
        ),
        ('[TOOL_CALLS][{"name": "search", "arguments": {"words": "grey parrot"}, "id": "a1"}]', [("search", SEARCH)]),
        ('[TOOL_CALLS]search{"words": "grey parrot"}', [("search", SEARCH)]),
        ('[TOOL_CALLS]search[ARGS]{"words": "grey parrot"}', [("search", SEARCH)]),
        ('<|python_tag|>{"name": "search", "parameters": {"words": "grey parrot"}}', [("search", SEARCH)]),
        ('{"type": "function", "name": "search", "parameters": {"words": "grey parrot"}}', [("search", SEARCH)]),
        ('<function=search>{"words": "grey parrot"}</function>', [("search", SEARCH)]),
        (
            "<tool_call><function=search><parameter=words>\ngrey parrot\n</parameter></function></tool_call>",
            [("search", SEARCH)],
        ),
        (
            "[search(words='grey parrot'), step(variable=\"v1\", direction='back')]",
            [("search", SEARCH), ("step", STEP)],
        ),
        (
            '{"tool_calls": [{"function": {"name": "search", "arguments": {"words": "grey parrot"}}}]}',
            [("search", SEARCH)],
        ),
        ("{'name': 'search', 'arguments': {'words': 'grey parrot'}}", [("search", SEARCH)]),
        ('Action: {"action": "search", "action_input": {"words": "grey parrot"}}', [("search", SEARCH)]),
        ('{"search": {"words": "grey parrot"}}', [("search", SEARCH)]),
        ('search\n```json\n{"words": "grey parrot"}\n```', [("search", SEARCH)]),
        ('{"name": "search", "words": "grey parrot"}', [("search", SEARCH)]),
        (
            (
                '<think>I could {"name": "step", "arguments": {}}</think>'
                '{"name": "search", "arguments": {"words": "grey parrot"}}'
            ),
            [("search", SEARCH)],
        ),
        ('{"name": "search", "arguments": "no JSON"}', [("search", None)]),
        ('{"name": "search", "arguments": ["a"]}', [("search", None)]),
        ('{"name": "search", "arguments": "{\\"words\\": \\"grey parrot\\"}"}', [("search", SEARCH)]),
        ('{"name": " search ", "id": "c1", "type": "call", "words": "grey parrot"}', [("search", SEARCH)]),
        ('{"name": "delete", "tool": "search", "args": {"words": "grey parrot"}}', [("search", SEARCH)]),
        ('{"search": "grey parrot"}', []),
        ('{"search": {"words": "grey parrot"}, "step": {}}', []),
        ('[1, "search", null]', []),
        ('[1, {"name": "search", "input": {"words": "grey parrot"}}]', [("search", SEARCH)]),
        ('{"calls": [{"name": "search", "params": {"words": "grey parrot"}}, 5]}', [("search", SEARCH)]),
        ('{"actions": "search"}', []),
        ("search {'words': 'grey parrot'}", [("search", SEARCH)]),
        ("search {'words': 'it\\'s }'}", [("search", {"words": "it's }"})]),
        ("search {'words': 'grey parrot'", []),
        ("search {'words': grey}", []),
        ("search [1]", []),
        ('search was done before. {"words": "grey parrot"}', []),
        ("search('grey parrot')", []),
        ("search(words=grey)", []),
        ("search(words='grey) parrot')", [("search", {"words": "grey) parrot"})]),
        ("delete(words='a') search(words='grey parrot')", [("search", SEARCH)]),
        ("search(words='grey' 5) search(words='grey parrot')", [("search", SEARCH)]),
        ("search(**{'words': 'a'}) or search()", [("search", {"words": "a"})]),
        ("<function=search></function>", [("search", {})]),
        ("<function=search>[1]</function>", [("search", {})]),
        (
            "<function=search><parameter=limit>5</parameter><parameter=words>tea",
            [("search", {"limit": 5, "words": "tea"})],
        ),
        ("I would search for the grey parrot.", []),
        ('{"name": "delete_all", "arguments": {}}', []),
        ('<think>{"name": "search", "arguments": {}}', []),
        ("", []),
    ],
)
def test_forms(text: str, wanted: list[tuple[str, dict[str, Any] | None]]) -> None:
    assert [(one.name, one.arguments) for one in calls_in(text, NAMES)] == wanted


@pytest.mark.parametrize("depth", [101, 900, 20_000])
def test_deep_arguments_are_none(depth: int) -> None:
    text = '{"name": "search", "arguments": {"words": %s}}' % ("[" * depth + "]" * depth)
    assert [one.arguments for one in calls_in(text, NAMES)] in ([None], [])


def test_at_most_twenty_calls_are_read_with_ids_of_their_own() -> None:
    found = calls_in('{"search": {}}' * 21, NAMES)
    assert [one.id for one in found] == [f"text-{number}" for number in range(20)]


@pytest.mark.parametrize(("others", "count"), [(199, 1), (200, 0)])
def test_two_hundred_beginnings_of_json_are_tried(others: int, count: int) -> None:
    assert len(calls_in("[x " * others + '{"name": "search", "arguments": {}}', NAMES)) == count


@pytest.mark.parametrize(("padding", "count"), [(60_000 - len("search {}"), 1), (60_000 - len("search {}") + 1, 0)])
def test_only_the_end_of_a_long_reply_is_read(padding: int, count: int) -> None:
    assert len(calls_in("search {}" + " " * (padding - 1) + ".", NAMES)) == count


def test_thoughts_are_left_out() -> None:
    assert without_thoughts("<think>Hm.</think> Yes.") == "Yes."
    assert without_thoughts("Hm.</think>Yes.") == "Yes."
    assert without_thoughts("<think>Hm, and on") == ""


@pytest.mark.parametrize(
    "unit", ["{", "[", '{"search": ', "search(", "search('", "<think>", "<function=search>", "{'a': "]
)
def test_hostile_replies_take_little_time(unit: str) -> None:
    start = time.process_time()
    calls_in("search " + unit * 20_000, NAMES)
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    "other",
    [
        '<function=delete>{"words": "all"}</function>',
        "<function=delete><parameter=words>all</parameter></function>",
        '{"name": "delete", "arguments": {"words": "all"}}',
        "delete(words='all')",
    ],
)
@pytest.mark.parametrize(
    "own",
    [
        '<function=search>{"words": "grey parrot"}</function>',
        '{"name": "search", "arguments": {"words": "grey parrot"}}',
    ],
)
def test_a_tool_that_nobody_offered_is_no_call(own: str, other: str) -> None:
    for text in (f"{own}\n{other}", f"{other}\n{own}"):
        found = calls_in(text, NAMES)
        assert "delete" not in [one.name for one in found]
