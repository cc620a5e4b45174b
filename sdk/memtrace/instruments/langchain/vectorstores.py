"""Records vector stores: documents that are added and deleted, and searches with scores.

The methods of a store call each other. The outermost search is the operation; searches inside give the candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from memtrace.context import scope
from memtrace.faults import report
from memtrace.instruments import joining, placing
from memtrace.instruments.both_forms import Called, Told, both, unheard
from memtrace.instruments.frameworks.held_store import store_name
from memtrace.instruments.frameworks.runs import Run, runs, single
from memtrace.instruments.frameworks.values import same, sources
from memtrace.instruments.langchain import retrieval
from memtrace.instruments.making import Making, outside, text_of
from memtrace.instruments.patches import Wrapper
from memtrace.instruments.placing import NotRecordedError
from memtrace.instruments.units import Unit, key_of_text, newest, written

SEARCHES = (
    "similarity_search",
    "similarity_search_with_score",
    "similarity_search_with_relevance_scores",
    "similarity_search_by_vector",
    "similarity_search_with_score_by_vector",
    "max_marginal_relevance_search",
    "max_marginal_relevance_search_by_vector",
    "max_marginal_relevance_search_with_score_by_vector",
    "_similarity_search_with_score_by_vector",
    "_similarity_search_with_relevance_scores",
)
_ADDING = ("add_documents", "add_texts")

_told: ContextVar[list[str] | None] = ContextVar("memtrace.langchain.told", default=None)
"""While a store is made: the methods that have recorded the first documents."""

_busy: ContextVar[bool] = ContextVar("memtrace.langchain.storing", default=False)
_hits: ContextVar[Run | None] = ContextVar("memtrace.langchain.hits", default=None)
"""The search that collects the documents found here."""


def wrappers() -> dict[str, Wrapper]:
    """The wrapper of each method, by name."""
    made: dict[str, Wrapper] = {}
    for name in SEARCHES:
        made[name] = both(_searched)
        made[f"a{name}" if not name.startswith("_") else f"_a{name[1:]}"] = both(_searched)
    for name in _ADDING:
        made[name] = made[f"a{name}"] = both(_added)
    made["delete"] = made["adelete"] = both(_deleted)
    made["from_texts"] = made["afrom_texts"] = both(_made_from)
    return made


@contextmanager
def _searched(call: Called) -> Iterator[Told]:
    store, inside = call.owner, _hits.get()
    if inside is not None:
        yield lambda result: _guard(_collect, inside, store, result)
        return
    retriever = retrieval.searching.get()
    if retriever is not None:
        _guard(_begin, retriever, store)
        _guard(_limit, retriever, call)
        token = _hits.set(retriever)
        try:
            yield lambda result: _guard(_collect, retriever, store, result)
        finally:
            _hits.reset(token)
        return
    query = call.argument("query")
    with _placed(store) as run:
        if run is not None:
            _guard(_limit, run, call)
        if run is None or not isinstance(query, str):
            yield unheard
            return
        run.name = f"{type(store).__name__}.{call.name}"
        _guard(retrieval.begin, run, query)
        token = _hits.set(run)
        error: BaseException | None = None
        try:
            yield lambda result: _guard(_found, run, store, result)
        except BaseException as raised:
            error = raised
            raise
        finally:
            _hits.reset(token)
            if run.making is not None:
                _guard(run.making.end, error)


@contextmanager
def _placed(store: Any, written: Sequence[str] = ()) -> Iterator[Run | None]:
    """A run for a call of the store, inside the run of LangChain around the call, if any; None if not recorded.

    Args:
        store: the store.
        written: the texts that are written into the store.
    """
    around = None
    try:
        around = runs.around()
    except Exception as error:
        report("place in LangChain", error)
    home = placing.memory_home(store_name(store), "", what=type(store).__name__)
    if around is not None:
        try:
            around.root.place(home, is_shared=True)
            around.root.uses(home, is_written=bool(written))
        except NotRecordedError:
            yield None
        else:
            yield Run(around.root, around, "store", "")
        return
    with placing.Place(lambda: joining.used_by(written, home)) as place:
        here = scope.get() if place.is_recorded else None
        yield None if here is None else single(here, "store")


def _begin(retriever: Run, store: Any) -> None:
    """Begin a retriever's operation with its first search in a store."""
    if retriever.making is None:
        home = placing.memory_home(store_name(store), "", what=type(store).__name__)
        retriever.root.place(home, is_shared=True)
        retriever.root.uses(home)
        retrieval.begin(retriever, str(retriever.inputs))


def _limit(run: Run, call: Called) -> None:
    """Note the store of a search, and what limits the search; the attributes are written with the end."""
    said = {"filter": call.kwargs.get("filter"), "threshold": call.kwargs.get("score_threshold")}
    found = {name: value if isinstance(value, str) else text_of(value) for name, value in said.items() if value}
    run.noted = {**run.noted, "store": store_name(call.owner), **found}


def _guard(call: Callable[..., Any], *args: Any) -> None:
    try:
        call(*args)
    except NotRecordedError:
        return
    except Exception as error:
        report("vector store", error)


def _collect(run: Run, store: Any, result: Any) -> None:
    """Add the documents of a search, with scores if any, to the candidates."""
    where = store_name(store)
    for item in result if isinstance(result, Sequence) and not isinstance(result, str) else ():
        document, score = (item[0], item[1]) if isinstance(item, tuple) and len(item) > 1 else (item, None)
        text = getattr(document, "page_content", None)
        if isinstance(text, str):
            run.hits.append((document, _name(where, document, text), None if score is None else float(score)))


def _found(run: Run, store: Any, result: Any) -> None:
    _collect(run, store, result)
    items = result if isinstance(result, Sequence) and not isinstance(result, str) else ()
    retrieval.end(run, [item[0] if isinstance(item, tuple) else item for item in items])


def _name(where: str, document: Any, text: str) -> Unit:
    key = getattr(document, "id", None) or (getattr(document, "metadata", None) or {}).get("_id")  # so does Qdrant
    return where, (str(key) if key else key_of_text(text))


@contextmanager
def _added(call: Called) -> Iterator[Told]:
    if _busy.get():
        yield unheard
        return
    given = call.kwargs.get("documents", call.kwargs.get("texts", call.args[0] if call.args else ()))
    items = list(given) if isinstance(given, Sequence) else given
    token = _busy.set(True)
    try:
        if isinstance(given, Sequence) or given is None:
            yield lambda ids: _guard(_add, call.owner, call.name, items, ids)
        else:
            yield unheard  # only the store may read an iterator
    finally:
        _busy.reset(token)


@contextmanager
def _made_from(call: Called) -> Iterator[Told]:
    """Record the documents with which a store is made, unless a recorded method of the store adds them."""
    if _busy.get() or _told.get() is not None:
        yield unheard
        return
    given = call.kwargs.get("texts", call.args[0] if call.args else ())
    told: list[str] = []
    token = _told.set(told)
    try:
        yield lambda store: None if told else _guard(_filled, store, call.name, given, call.kwargs.get("ids"))
    finally:
        _told.reset(token)


def _filled(store: Any, name: str, given: Any, ids: Any) -> None:
    if ids is None:
        kept = getattr(store, "index_to_docstore_id", None)
        ids = list(kept.values()) if isinstance(kept, Mapping) else None
    if isinstance(given, Sequence):
        _add(store, name, list(given), ids)


def _add(store: Any, name: str, items: Sequence[Any], ids: Any) -> None:
    told = _told.get()
    if told is not None:
        told.append(name)
    with _placed(store, [item if isinstance(item, str) else item.page_content for item in items]) as run:
        if run is None or not items:
            return
        where = store_name(store)
        making = Making(run.here, f"{type(store).__name__}.{name}", "Segmentation")
        made: list[tuple[Unit, str, list[Any]]] = []
        for place, item in enumerate(items):
            text = item if isinstance(item, str) else str(item.page_content)
            key = str(ids[place]) if isinstance(ids, Sequence) and place < len(ids) else key_of_text(text)
            found = same(run, text)
            came_from = [found] if found is not None else sources(run, text)
            came_from = came_from or [outside(run.here, text, f"document {key}", "Message")]
            made.append(((where, key), text, came_from))
        for unit, text, came_from in made:
            for source in came_from:
                making.use(source)
            written(making, unit, text, sources=came_from, leaves=(text,))
        making.end()


@contextmanager
def _deleted(call: Called) -> Iterator[Told]:
    if _busy.get():
        yield unheard
        return
    ids = call.argument("ids")
    token = _busy.set(True)
    try:
        yield lambda result: _guard(_delete, call.owner, call.name, ids)
    finally:
        _busy.reset(token)


def _delete(store: Any, name: str, ids: Any) -> None:
    with _placed(store) as run:
        if run is None or ids is None:
            return
        gone = [newest(run.here, (store_name(store), str(one))) for one in ids]
        units = [one for one in gone if one is not None]
        if not units:
            return
        making = Making(run.here, f"{type(store).__name__}.{name}", "Deletion")
        for one in units:
            making.invalidate(one)
        making.end()
