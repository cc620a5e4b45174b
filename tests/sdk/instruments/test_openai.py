"""Unchanged programs with OpenAI's client: what is recorded, and that recording changes nothing for the program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from memtrace.instruments.openai.bodies import Whole

from tests.environments import params_of
from tests.sdk.instruments import scripted_openai
from tests.sdk.instruments.running import Run, check_whole, run

ENVIRONMENTS = params_of("mem0-2.2.1", "mem0-1.0.11", "mem0-1.0.0")  # openai 3, 2 and 1


def script(body: dict[str, Any]) -> str | dict[str, Any] | int:
    """``say: words``, ``call: tool`` and ``fail: status`` in the newest message are orders."""
    given: Any = body.get("messages") or body.get("input") or body.get("prompt")
    last = given if isinstance(given, str) else given[-1]["content"]
    order, _, words = str(last).partition(": ")
    if order == "fail":
        return int(words)
    if order == "call":
        call = {"id": "call_1", "type": "function", "function": {"name": words, "arguments": '{"city": "Rome"}'}}
        return {"tool_calls": [call]}
    return words


@pytest.fixture(scope="module", params=ENVIRONMENTS)
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    """The same program without and with the recorder."""
    folder = tmp_path_factory.mktemp("openai")
    with scripted_openai.running(script) as model:
        options = {"environment": request.param, "model": model.url}
        without = run("openai_matrix.py", folder=folder / "without", instrument=None, **options)
        sent = len(model.requests)
        recorded = run("openai_matrix.py", folder=folder / "with", **options)
        assert len(model.requests) == 2 * sent
    return without, recorded


def replied(run: Run) -> list[str]:
    return [
        event["value"] for kind in ("Answer", "Response") for event in run.variables(kind) if event["name"] == "reply"
    ]


def test_the_program_notices_nothing(both: tuple[Run, Run]) -> None:
    without, recorded = both
    assert recorded.said == without.said
    assert not recorded.errors.replace("\n", "")


def test_each_call_is_one_operation_in_a_trace(both: tuple[Run, Run]) -> None:
    _, recorded = both
    check_whole(recorded)
    names = [name for name, _ in recorded.operations()]
    assert {name: names.count(name) for name in dict.fromkeys(names)} == {
        "openai chat": 23,
        "openai responses": 3,
        "openai completion": 1,
        "openai embeddings": 2,
    }


def test_replies_of_all_ways_are_recorded(both: tuple[Run, Run]) -> None:
    _, recorded = both
    words = ["whole", "streamed words", "by the helper", '{"name": "Paris"}', "it is 21 degrees", "raw", "raw stream"]
    words += ["late", "a response", "a streamed response", "completed", "posted", "several", "several"]
    words += ["the first reply", "the second reply", "the third reply", "asynchronous", "asynchronous stream"]
    words += ["asynchronous raw", "asynchronous response", "asynchronous late", "bound before"]
    assert sorted(replied(recorded)) == sorted([*words, "left"])


def test_a_stream_that_is_left_is_cancelled_and_a_failure_is_an_error(both: tuple[Run, Run]) -> None:
    _, recorded = both
    statuses = [event["status"] for event in recorded.of("operationEnded")]
    assert statuses.count("cancelled") == 1
    errors = [event["error"]["type"] for event in recorded.of("operationEnded") if "error" in event]
    assert sorted(errors) == ["AuthenticationError", "InternalServerError"]  # once, though it was tried twice
    assert "scripted-key" not in json.dumps(recorded.events)


def test_model_and_usage_are_attributes(both: tuple[Run, Run]) -> None:
    _, recorded = both
    started = {event["operation"]: event for event in recorded.of("operationStarted")}
    ended = {event["operation"]: event for event in recorded.of("operationEnded")}
    (source,) = [
        edge for edge in recorded.of("derived") if edge["target"] == recorded.only("streamed words")["variable"]
    ]
    assert started[source["operation"]]["attributes"] == {"model": "m"}
    assert ended[source["operation"]]["attributes"] == {
        "responseModel": "m",
        "responseId": "call-1",
        "inputTokens": 11,
        "outputTokens": 5,
        "finishReasons": ["stop"],
    }


def test_an_operation_names_the_application_s_line(both: tuple[Run, Run]) -> None:
    _, recorded = both
    places = [event["location"] for event in recorded.of("operationStarted")]
    assert places
    assert all(place.startswith("openai_matrix.py:") for place in places)


def test_a_conversation_is_one_trace_in_which_each_message_is_recorded_once(both: tuple[Run, Run]) -> None:
    _, recorded = both
    third = recorded.only("the third reply")
    closure = [(event["kind"], event["value"]) for event in recorded.closure(third)]
    assert sorted(closure) == sorted(
        [
            ("Prompt", "You are brief, and answer in one line."),
            ("Message", "say: the first reply"),
            ("Message", "say: the second reply"),
            ("Message", "say: the third reply"),
            ("Answer", "the first reply"),
            ("Answer", "the second reply"),
            ("Answer", "the third reply"),
        ]
    )
    assert len([event for event in recorded.of("variable") if event["trace"] == third["trace"]]) == 7


def test_a_tool_s_result_and_the_call_of_it_lead_to_the_answer(both: tuple[Run, Run]) -> None:
    _, recorded = both
    closure = [(event["kind"], event["value"]) for event in recorded.closure(recorded.only("it is 21 degrees"))]
    assert sorted(closure) == sorted(
        [
            ("Answer", "it is 21 degrees"),
            ("Message", "call: weather"),
            ("Response", '[{"name":"weather","arguments":"{\\"city\\": \\"Rome\\"}"}]'),
            ("Other", "say: it is 21 degrees"),
        ]
    )


def test_unrelated_calls_are_traces_of_their_own(both: tuple[Run, Run], tmp_path: Path) -> None:
    _, recorded = both
    assert recorded.only("whole")["trace"] != recorded.only("bound before")["trace"]
    assert {event["name"] for event in recorded.of("trace")} == {
        f"openai_matrix.py: openai {what}" for what in ("chat", "responses", "completion", "embeddings")
    }


@pytest.mark.parametrize("kind", ["response.completed", "response.incomplete", "response.failed"])
def test_the_last_piece_of_a_streamed_response_has_all_of_it(kind: str) -> None:
    whole = Whole()
    whole.add({"type": "response.output_text.delta", "output_index": 0, "delta": "It is "})
    message = {"type": "message", "content": [{"type": "output_text", "text": "It is in"}]}
    usage = {"input_tokens": 12, "output_tokens": 3}
    whole.add({"type": kind, "response": {"id": "r1", "model": "m1", "output": [message], "usage": usage}})
    assert [reply.text for reply in whole.replies()] == ["It is in"]
    expected = {"responseModel": "m1", "responseId": "r1", "inputTokens": 12, "outputTokens": 3}
    assert whole.numbers() == expected
