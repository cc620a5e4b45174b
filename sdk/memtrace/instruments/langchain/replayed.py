"""Changes calls of LangChain in a replay: prompts and replies of chat models, and documents of retrievers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memtrace import steps
from memtrace.instruments.covering import covered
from memtrace.instruments.frameworks.messages import content, plain
from memtrace.instruments.frameworks.runs import Run, runs
from memtrace.instruments.langchain import retrieval
from memtrace.instruments.placing import NotRecordedError
from memtrace.steps import PackageCall

_PROMPT = "prompt"


def _package(run: Run, arguments: Mapping[str, Any]) -> PackageCall | None:
    if steps.replaying is None:
        return None  # before ``run.here``, which would choose the trace
    try:
        replaying = run.here.trace.replaying
    except NotRecordedError:
        return None
    if replaying is None:
        return None
    found = replaying.package(f"langchain:{run.name}", arguments)
    run.noted = found.noted
    return found


def generating(original: Callable[..., Any]) -> Callable[..., Any]:
    """A wrapper of a chat model's method that asks for a whole reply."""
    inside = covered(original)

    def begun(messages: Any, said: Mapping[str, Any]) -> tuple[PackageCall | None, Any]:
        run = runs.of(getattr(said.get("run_manager"), "run_id", None))
        if run is None or not isinstance(messages, Sequence):
            return None, messages
        call = _package(run, {"messages": [plain(one) for one in messages]})
        if call is None or len(messages) != 1 or not isinstance(messages[0].content, str):
            return call, messages
        prompt = call.given({_PROMPT: messages[0].content})[_PROMPT]
        return call, messages if prompt == content(messages[0]) else [
            messages[0].model_copy(update={"content": prompt})
        ]

    if inspect.iscoroutinefunction(original):

        async def generated_later(self: Any, messages: Any, *args: Any, **kwargs: Any) -> Any:
            call, given = begun(messages, kwargs)
            return _replied(call, await inside(self, given, *args, **kwargs))

        return generated_later

    def generated(self: Any, messages: Any, *args: Any, **kwargs: Any) -> Any:
        call, given = begun(messages, kwargs)
        return _replied(call, inside(self, given, *args, **kwargs))

    return generated


def _replied(call: PackageCall | None, result: Any) -> Any:
    if call is None:
        return result
    for generation in result.generations:
        text = generation.message.content
        if isinstance(text, str):
            generation.message.content = call.reply(text)
            generation.text = generation.message.content
    return result


def retrieving(original: Callable[..., Any]) -> Callable[..., Any]:
    """A wrapper of a retriever's method that finds documents."""

    def changed(query: Any, documents: Any) -> Any:
        run = retrieval.searching.get()
        call = None if run is None else _package(run, {"query": query})
        if call is None:
            return documents
        texts = [str(one.page_content) for one in documents]
        by_text = dict(zip(texts, documents, strict=True))
        return [by_text.get(text) or _document(text) for text in call.found(texts)]

    if inspect.iscoroutinefunction(original):

        async def retrieved_later(self: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
            return changed(query, await original(self, query, *args, **kwargs))

        return retrieved_later

    def retrieved(self: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
        return changed(query, original(self, query, *args, **kwargs))

    return retrieved


def _document(text: str) -> Any:
    from langchain_core.documents import Document

    return Document(page_content=text)
