"""Records the calls of OpenAI's client, to any service.

Each call of the application runs the method ``request`` once, with retries inside. Clients that existed before the
patch use the patched method too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from memtrace.context import scope
from memtrace.faults import report
from memtrace.instruments import conversations, placing
from memtrace.instruments.both_forms import Called, Told, both, unheard
from memtrace.instruments.callers import line
from memtrace.instruments.covering import is_covered
from memtrace.instruments.model_calls import ModelCall, Said
from memtrace.instruments.openai import bodies
from memtrace.instruments.openai.bodies import Whole
from memtrace.instruments.patches import Patches
from memtrace.instruments.texts import texts as known_texts
from memtrace.observe import take
from memtrace.raw_events import RawEvent

_CALL = "_memtrace_call"
"""The attribute of a raw response for its running call, until the application parses the response."""


class OpenAIInstrument:
    """Chat, responses, completions and embeddings: synchronous, asynchronous, streamed, raw."""

    distribution = "openai"
    modules = ("openai",)
    tested = ("1.109.1", "3.54.0")

    def __init__(self) -> None:
        self._patches = Patches("openai")

    def install(self) -> None:
        """Begin to record."""
        client = import_module("openai._base_client")
        for kind in (client.SyncAPIClient, client.AsyncAPIClient):
            self._patches.wrap(kind, "request", both(_requested))
        legacy, responses = import_module("openai._legacy_response"), import_module("openai._response")
        for response in (legacy.LegacyAPIResponse, responses.APIResponse, responses.AsyncAPIResponse):
            self._patches.wrap(response, "parse", both(_parsed))
        for response in (responses.APIResponse, responses.AsyncAPIResponse):
            self._patches.wrap(response, "close", both(_closed))

    def remove(self) -> None:
        """Leave the package as it was."""
        self._patches.restore()


@contextmanager
def _requested(called: Called) -> Iterator[Told]:
    call = _begin(called)
    if call is None:
        yield unheard
        return
    results: list[Any] = []
    try:
        yield results.append
    except BaseException as error:
        call.fail(error)
        raise
    _end(call, results[0])


def _begin(called: Called) -> ModelCall | None:
    """Begin a call of a model; None for other requests, for calls that another instrument records, and on failure."""
    if is_covered():
        return None
    try:
        options = called.argument("options", 1)
        body = options.json_data
        known = bodies.call_of(str(options.url))
        if known is None or not isinstance(body, Mapping):
            return None
        name, kind = known
        texts = bodies.texts(body) if kind == "Embedding" else None
        messages = bodies.asked(body) if texts is None else []
        talk = conversations.talk_of(body, messages)
        with placing.of_contents(
            _objects(messages) if texts is None else texts,
            what=name,
            named=lambda: conversations.home(talk, name),
            continued=lambda: conversations.continued(talk),
        ):
            here = scope.get()
            if here is None:
                return None
            call = ModelCall(here, name, kind)
            attributes = bodies.settings(body)
            if texts is None:
                call.ask(messages, attributes, location=line(), talk=talk)
            else:
                _embed(call, texts, attributes)
            return call
    except Exception as error:
        report("beginning of a call to OpenAI", error)
        return None


def _objects(messages: list[Said]) -> list[object]:
    """The objects that decide the call's trace: contents of messages, and the messages themselves."""
    return [part for said in messages for part in (said.content, said.same)]


def _embed(call: ModelCall, texts: list[str], attributes: Mapping[str, Any]) -> None:
    events: list[RawEvent] = [()]
    for text in texts:
        known = known_texts(call.trace).equal(text, call.asked)  # such as what a model wrote as the argument of a tool
        if known is None:
            take(events, call, call, text, "text", None)
        elif not call.has_input(known):
            call.use(events, known, "text")
    call.begin(line(), {"attributes": {**attributes, "texts": len(texts)}}, events)


def _end(call: ModelCall, result: object) -> None:
    """Record the result of a request: a response, a stream, or a raw response."""
    try:
        if hasattr(type(result), "model_fields"):  # first, because pydantic objects answer ``hasattr`` slowly
            _done(call, result)
        elif hasattr(result, "_iterator") and hasattr(result, "response"):
            _follow(call, result)
        elif hasattr(result, "http_response") and hasattr(result, "parse"):
            _keep(call, result)
        else:
            _done(call, result)
    except Exception as error:
        report("end of a call to OpenAI", error)
        call.done([])


def _done(call: ModelCall, response: object) -> None:
    if not isinstance(response, Mapping) and not hasattr(response, "model_fields_set") and hasattr(response, "json"):
        response = response.json()  # the application asked for the HTTP response
    call.done(bodies.replies(response), bodies.numbers(response))


def _keep(call: ModelCall, raw: Any) -> None:
    """Record a raw response whose body is here; otherwise keep the call until the application reads the body."""
    raw.__dict__[_CALL] = call
    if type(raw).__name__ == "LegacyAPIResponse" and raw.http_response.is_closed:
        _done(call, raw.http_response.json())


@contextmanager
def _parsed(called: Called) -> Iterator[Told]:
    yield lambda result: _read(called.owner, result)


def _read(raw: Any, result: object) -> None:
    """Record a raw response that the application has parsed."""
    call: ModelCall | None = raw.__dict__.pop(_CALL, None)
    if call is None:
        return
    try:
        if call.is_over:
            _known_as(call, result)
        else:
            _end(call, result)
    except Exception as error:
        report("raw response of OpenAI", error)


def _known_as(call: ModelCall, response: object) -> None:
    """Let parsed objects stand for the replies that are recorded already."""
    made = [variable for variable, _, _ in call.outputs if variable.maker == call.maker]
    for variable, reply in zip(made, bodies.replies(response), strict=False):
        call.known_as(variable, reply.text, *reply.objects)


@contextmanager
def _closed(called: Called) -> Iterator[Told]:
    _left(called.owner)
    yield unheard


def _left(raw: Any) -> None:
    """End the call of a raw response that is closed without ``parse``: its reply is unknown."""
    call: ModelCall | None = raw.__dict__.pop(_CALL, None)
    if call is not None:
        call.done([])


def _follow(call: ModelCall, stream: Any) -> None:
    iterator = stream._iterator
    stream._iterator = _Later(call, iterator) if hasattr(iterator, "__anext__") else _Now(call, iterator)


class _Chunks:
    """The chunks of a stream, unchanged, on their way to the application."""

    def __init__(self, call: ModelCall, chunks: Any) -> None:
        self._call = call
        self._chunks = chunks
        self._whole = Whole()

    def _add(self, chunk: object) -> None:
        try:
            self._whole.add(chunk)
        except Exception as error:
            report("chunk of a stream of OpenAI", error)

    def _end(self, error: BaseException | None = None) -> None:
        if self._call.is_over:
            return
        try:
            if error is None:
                self._call.done(self._whole.replies(), self._whole.numbers())
            else:
                self._call.fail(error, self._whole.replies())
        except Exception as wrong:
            report("end of a stream of OpenAI", wrong)
            self._call.done([])

    def __del__(self) -> None:
        self._end(GeneratorExit())

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_chunks"], name)


class _Now(_Chunks):
    def __iter__(self) -> _Now:
        return self

    def __next__(self) -> Any:
        try:
            chunk = next(self._chunks)
        except StopIteration:
            self._end()
            raise
        except BaseException as error:
            self._end(error)
            raise
        self._add(chunk)
        return chunk


class _Later(_Chunks):
    def __aiter__(self) -> _Later:
        return self

    async def __anext__(self) -> Any:
        try:
            chunk = await self._chunks.__anext__()
        except StopAsyncIteration:
            self._end()
            raise
        except BaseException as error:
            self._end(error)
            raise
        self._add(chunk)
        return chunk
