"""What is read of a server's reply, and which fault an error of the client is: one row for each field and border."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import httpx
import openai
import pytest

from attribution.llm.transport.errors import Problem
from attribution.llm.transport.faults import Fault, UnreadableReplyError, fault_of, server_message
from attribution.llm.transport.listed import Listed, read_listed
from attribution.llm.transport.reply import Reply, Tokens, ToolCall, arguments_of, read_reply, read_vectors

REQUEST: Any = httpx.Request("POST", "http://localhost/v1/chat/completions")


def _reply(**changes: Any) -> Reply:
    return replace(Reply("Yes.", "", (), False, None), **changes)


def _call(name: str = "search", **other: Any) -> dict[str, Any]:
    return {"function": {"name": name} | other.pop("function", {})} | other


@pytest.mark.parametrize(
    ("message", "choice", "wanted"),
    [
        ({"content": "Yes."}, {}, _reply()),
        ({"content": None}, {}, _reply(content="")),
        ({}, {}, _reply(content="")),
        ({"content": [{"text": "Y"}, {"type": "text", "text": "es."}]}, {}, _reply()),
        ({"content": [{"type": "image", "text": "no"}, {"type": "text"}]}, {}, _reply(content="")),
        ({"content": "Yes."}, {"finish_reason": "length"}, _reply(cut=True)),
        ({"content": "Yes."}, {"finish_reason": "stop"}, _reply()),
        ({"content": "Yes."}, {"finish_reason": "content_filter"}, _reply(refusal="its content filter stopped it")),
        ({"refusal": "No."}, {"finish_reason": "content_filter"}, _reply(content="", refusal="No.")),
        ({"content": "Yes.", "reasoning_content": "Hm."}, {}, _reply(has_thought=True)),
        ({"content": "Yes.", "reasoning": "Hm."}, {}, _reply(has_thought=True)),
        ({"content": "Yes.", "reasoning": "", "reasoning_content": None}, {}, _reply()),
        (
            {"tool_calls": [_call(id="a1", function={"arguments": '{"words": "tea"}'}), _call("step")]},
            {},
            _reply(content="", calls=(ToolCall("a1", "search", {"words": "tea"}), ToolCall("call-1", "step", {}))),
        ),
    ],
)  # fmt: skip
def test_what_a_reply_says(message: dict[str, Any], choice: dict[str, Any], wanted: Reply) -> None:
    assert read_reply(json.dumps({"choices": [{"message": message} | choice]})) == wanted


@pytest.mark.parametrize(
    ("usage", "wanted"),
    [
        (None, None),
        ("much", None),
        ({}, None),
        ({"prompt_tokens": 0}, None),
        ({"prompt_tokens": 1}, Tokens(1, 0)),
        ({"prompt_tokens": 9, "completion_tokens": -1}, None),
        ({"prompt_tokens": 9, "completion_tokens": 4}, Tokens(9, 4)),
        ({"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": None}, Tokens(9, 4)),
        ({"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {}}, Tokens(9, 4)),
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": None}}, Tokens(9, 0)),
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 7}}, Tokens(9, 0, 7)),
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 10}}, Tokens(9, 0, 9)),
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": -1}}, Tokens(9, 0, 0)),
        ({"prompt_tokens": 9, "prompt_tokens_details": "none"}, Tokens(9, 0)),
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": "some"}}, Tokens(9, 0)),
    ],
)
def test_what_a_server_says_about_tokens(usage: Any, wanted: Tokens | None) -> None:
    assert read_reply(json.dumps({"choices": [{"message": {"content": "Yes."}}], "usage": usage})).tokens == wanted
    vectors = {"data": [{"index": 0, "embedding": [1.0]}], "usage": usage}
    assert read_vectors(json.dumps(vectors), 1) == ([[1.0]], wanted)


def _deep(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        (None, {}),
        ("", {}),
        ({}, {}),
        ('{"a": 1}', {"a": 1}),
        ({"a": 1}, {"a": 1}),
        ("[1]", None),
        ("a=1", None),
        ({"a": {1, 2}}, None),
        ({"a": _deep(50_000)}, None),
    ],
    ids=lambda value: str(type(value)),
)
def test_the_arguments_of_a_call(written: Any, wanted: dict[str, Any] | None) -> None:
    assert arguments_of(written) == wanted


@pytest.mark.parametrize(
    ("vectors", "count", "wanted"),
    [
        ([(1, [2.0]), (0, [1.0])], 2, [[1.0], [2.0]]),
        ([(0, [1.0])], 2, "1 vectors for 2 texts"),
        ([(0, [1.0]), (0, [2.0])], 2, "2 vectors for 2 texts"),
        ([(0, [1.0]), (2, [2.0])], 2, "2 vectors for 2 texts"),
        ([(0, [1.0]), (1, [2.0]), (1, [2.0])], 2, "3 vectors for 2 texts"),
        ([(0, [1.0]), (1, [2.0, 3.0])], 2, "vectors of different lengths"),
    ],
)
def test_there_is_one_vector_for_each_text(vectors: list[tuple[int, list[float]]], count: int, wanted: Any) -> None:
    body = json.dumps({"data": [{"index": index, "embedding": vector} for index, vector in vectors]})
    if isinstance(wanted, str):
        with pytest.raises(ValueError, match=f"^{wanted}$"):
            read_vectors(body, count)
    else:
        assert read_vectors(body, count) == (wanted, None)


@pytest.mark.parametrize(
    ("calls", "content", "wanted"),
    [
        ((), "", {"role": "assistant", "content": ""}),
        (
            (ToolCall("a1", "search", {"words": "tea"}), ToolCall("a2", "step", None)),
            "",
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "a1", "type": "function", "function": {"name": "search", "arguments": '{"words": "tea"}'}},
                    {"id": "a2", "type": "function", "function": {"name": "step", "arguments": "{}"}},
                ],
            },
        ),
    ],
)
def test_the_message_for_the_rest_of_the_conversation(
    calls: tuple[ToolCall, ...], content: str, wanted: dict[str, Any]
) -> None:
    found = _reply(content=content, calls=calls).message()
    for one in found.get("tool_calls", ()):
        one["function"]["arguments"] = json.dumps(json.loads(one["function"]["arguments"]))
    assert found == wanted


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("no JSON", None),
        ("[]", None),
        ('{"data": {}}', None),
        ('{"data": []}', ()),
        ('{"data": ["m", {"id": 1}, {"id": "m"}]}', (Listed(("m",), None),)),
        ('{"data": [{"id": "m", "aliases": ["n", 1, "m"]}]}', (Listed(("m", "n"), None),)),
        ('{"data": [{"id": "m", "aliases": "n", "meta": "x"}]}', (Listed(("m",), None),)),
        ('{"data": [{"id": "m", "max_model_len": 8, "context_length": 9}]}', (Listed(("m",), 8),)),
        ('{"data": [{"id": "m", "max_model_len": 0, "context_length": 1}]}', (Listed(("m",), 1),)),
        ('{"data": [{"id": "m", "context_window": "9", "meta": {"n_ctx": 7}}]}', (Listed(("m",), 7),)),
        ('{"data": [{"id": "m", "n_ctx": 5, "meta": {"n_ctx": 7}}]}', (Listed(("m",), 5),)),
    ],
)
def test_the_models_that_a_server_lists(body: str, wanted: tuple[Listed, ...] | None) -> None:
    assert read_listed(body) == wanted


def _refused(status: int, body: Any = None, **headers: str) -> openai.APIStatusError:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    response: Any = httpx.Response(status, request=REQUEST, headers=named)
    return openai.APIStatusError("secret request", response=response, body=body)


def _caused(error: openai.OpenAIError, cause: Exception) -> openai.OpenAIError:
    error.__cause__ = cause
    return error


def _fault(kind: Problem, message: str, **other: Any) -> Fault:
    return replace(Fault(kind, message, passing=False, paid=False), **other)


def _status(status: int, said: str = "", kind: Problem = Problem.STATUS, **other: Any) -> Fault:
    return _fault(kind, f"the server answered {status}{said}", status=status, **other)


LOST = "the server can't be reached"
MALFORMED = "the server's answer is malformed (OpenAIError)"
NO, MANY = {"message": "no"}, {"message": "too many tokens"}
LATE = "the server did not answer within 2.5 s"


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        (_refused(401), _status(401)),
        (_refused(401, NO), _status(401, ": no")),
        *[(_refused(status, NO), _status(status, ": no")) for status in (402, 404, 413, 499)],
        *[(_refused(status, NO), _status(status, ": no", passing=True)) for status in (408, 409, 425, 429, 500, 503)],
        *[
            (_refused(429, NO | {"code": code}), _status(429, ": no"))
            for code in ("insufficient_quota", "billing_hard_limit_reached")
        ],
        (_refused(429, retry_after="3"), _status(429, passing=True, wait=3.0)),
        (_refused(429, retry_after_ms="500", retry_after="3"), _status(429, passing=True, wait=0.5)),
        (_refused(429, retry_after_ms="soon", retry_after="3"), _status(429, passing=True, wait=3.0)),
        (_refused(429, retry_after="-3"), _status(429, passing=True, wait=0.0)),
        (_refused(429, retry_after="nan"), _status(429, passing=True)),
        (_refused(429, retry_after="soon"), _status(429, passing=True)),
        (_refused(429, retry_after="Mon, 01 Jan 2001 00:00:00 GMT"), _status(429, passing=True, wait=0.0)),
        *[(_refused(status, NO), _status(status, ": no", Problem.UNSUPPORTED)) for status in (400, 422, 501)],
        *[
            (_refused(status, MANY), _status(status, ": too many tokens", Problem.CONTEXT))
            for status in (400, 413, 422)
        ],
        (_refused(429, MANY), _status(429, ": too many tokens", passing=True)),
        (_refused(404, {"code": "context_length_exceeded"}), _status(404, kind=Problem.CONTEXT)),
        (_refused(400, {"code": "content_filter"}), _status(400, kind=Problem.REFUSED)),
        (_caused(openai.APIConnectionError(request=REQUEST), httpx.ReadError("r")),
         _fault(Problem.CONNECTION, f"{LOST} (ReadError)", passing=True, paid=True)),
        *[
            (_caused(openai.APIConnectionError(request=REQUEST), cause("c")),
             _fault(Problem.CONNECTION, f"{LOST} ({cause.__name__})", passing=True))
            for cause in (httpx.ConnectError, httpx.UnsupportedProtocol, httpx.LocalProtocolError)
        ],
        (_caused(openai.APITimeoutError(REQUEST), httpx.ReadTimeout("r")),
         _fault(Problem.TIMEOUT, LATE, passing=True, paid=True)),
        *[
            (_caused(openai.APITimeoutError(REQUEST), cause("c")), _fault(Problem.TIMEOUT, LATE, passing=True))
            for cause in (httpx.ConnectTimeout, httpx.PoolTimeout)
        ],
        (_caused(openai.APIConnectionError(request=REQUEST), UnreadableReplyError("it is too long")),
         _fault(Problem.UNREADABLE, "it is too long", paid=True)),
        (openai.OpenAIError("?"), _fault(Problem.MALFORMED, MALFORMED, passing=True, paid=True)),
    ],
)  # fmt: skip
def test_the_fault_for_an_error_of_the_client(error: openai.OpenAIError, wanted: Fault) -> None:
    found = fault_of(error, 2.5, str)
    assert found == wanted
    raised = found.error()
    assert (raised.kind, str(raised), raised.status) == (wanted.kind, wanted.message, wanted.status)


def test_secrets_in_a_servers_message_are_concealed() -> None:
    found = fault_of(_refused(401, {"message": "wrong key k-1"}), 1, lambda said: said.replace("k-1", "[key]"))
    assert found.message == "the server answered 401: wrong key [key]"


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (None, ""),
        ("text", ""),
        ({}, ""),
        ({"message": ""}, ""),
        ({"message": 5, "detail": "no"}, "no"),
        ({"message": "first", "detail": "second", "error": "third"}, "first"),
        ({"detail": "second", "error": "third"}, "second"),
        ({"error": "third"}, "third"),
        ({"error": {"message": "inside"}}, "inside"),
        ({"error": ["no"]}, ""),
        ({"message": " two\n\x00lines\t"}, "two lines"),
        ({"message": "m" * 300}, "m" * 300),
        ({"message": "m" * 301}, "m" * 300 + "…"),
    ],
)
def test_the_message_of_a_server(body: Any, wanted: str) -> None:
    assert server_message(body) == wanted
