"""Rerankers: compressors of documents choose among what a retriever found, or cut it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import wraps
from typing import Any

from memtrace.context import scope
from memtrace.faults import report
from memtrace.instruments.langchain import retrieval
from memtrace.instruments.langchain.runs import Run, runs, single
from memtrace.instruments.placing import NotRecordedError

_busy: ContextVar[bool] = ContextVar("memtrace.langchain.reranking", default=False)


def wrappers() -> dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]]:
    """What records each method, by its name."""
    return {"compress_documents": _wrapper, "acompress_documents": _wrapper}


def _wrapper(original: Callable[..., Any]) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(original):

        @wraps(original)
        async def compressed_later(self: Any, documents: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
            if _busy.get():
                return await original(self, documents, query, *args, **kwargs)
            token = _busy.set(True)
            run = _begin(self, documents, query)
            try:
                kept = await original(self, documents, query, *args, **kwargs)
            except BaseException as error:
                _fail(run, error)
                raise
            finally:
                _busy.reset(token)
            _end(run, documents, kept)
            return kept

        return compressed_later

    @wraps(original)
    def compressed(self: Any, documents: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
        if _busy.get():
            return original(self, documents, query, *args, **kwargs)
        token = _busy.set(True)
        run = _begin(self, documents, query)
        try:
            kept = original(self, documents, query, *args, **kwargs)
        except BaseException as error:
            _fail(run, error)
            raise
        finally:
            _busy.reset(token)
        _end(run, documents, kept)
        return kept

    return compressed


def _begin(reranker: Any, documents: Any, query: Any) -> Run | None:
    if not isinstance(documents, Sequence) or not isinstance(query, str):
        return None
    try:
        retriever = retrieval.searching.get()
        around = retriever or runs.around()
        if around is not None:
            if retriever is not None and retriever.making is None:
                retrieval.begin(retriever, str(retriever.inputs))
            run = Run(around.root, around, "reranker", "")
        else:
            here = scope.get()
            if here is None:
                return None
            run = single(here, "reranker")
        retrieval.reranked(run, type(reranker).__name__, documents, query)
    except NotRecordedError:
        return None
    except Exception as error:
        report("reranker", error)
        return None
    return run


def _end(run: Run | None, documents: Any, kept: Any) -> None:
    if run is None:
        return
    try:
        retrieval.chosen(run, list(documents), list(kept))
    except Exception as error:
        report("reranker", error)
    finally:
        _fail(run, None)


def _fail(run: Run | None, error: BaseException | None) -> None:
    try:
        if run is not None and run.making is not None:
            run.making.end(error)
    except Exception as wrong:
        report("reranker", wrong)
