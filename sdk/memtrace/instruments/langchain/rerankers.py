"""Records rerankers (document compressors), which choose among the documents of a retriever, or shorten them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from memtrace.context import scope
from memtrace.faults import report
from memtrace.instruments.both_forms import Called, Told, both, unheard
from memtrace.instruments.frameworks.runs import Run, runs, single
from memtrace.instruments.langchain import retrieval
from memtrace.instruments.patches import Wrapper
from memtrace.instruments.placing import NotRecordedError

_busy: ContextVar[bool] = ContextVar("memtrace.langchain.reranking", default=False)


def wrappers() -> dict[str, Wrapper]:
    """The wrapper of each method, by name."""
    return dict.fromkeys(("compress_documents", "acompress_documents"), both(_recorded))


@contextmanager
def _recorded(call: Called) -> Iterator[Told]:
    if _busy.get():
        yield unheard
        return
    documents = call.argument("documents")
    results: list[Any] = []
    token = _busy.set(True)
    run = _begin(call.owner, documents, call.argument("query", 1))
    try:
        yield results.append
    except BaseException as error:
        _fail(run, error)
        raise
    finally:
        _busy.reset(token)
    _end(run, documents, results[0])


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
