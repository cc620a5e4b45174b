"""Records vector stores: nodes that are added and deleted are memory units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any

from memtrace.context import scope
from memtrace.faults import report
from memtrace.instruments import placing
from memtrace.instruments.both_forms import Called, Told, both, unheard
from memtrace.instruments.frameworks.runs import Run, runs, single
from memtrace.instruments.frameworks.values import sources
from memtrace.instruments.llamaindex import memories
from memtrace.instruments.making import Making, outside
from memtrace.instruments.patches import Wrapper
from memtrace.instruments.placing import NotRecordedError
from memtrace.instruments.units import newest, written

_busy: ContextVar[bool] = ContextVar("memtrace.llamaindex.storing", default=False)
_NODES = "nodes of documents"


def wrappers() -> dict[str, Wrapper]:
    """The wrapper of each method, by name."""
    added, deleted, deleted_nodes = _recording(_added), _recording(_deleted), _recording(_deleted_nodes)
    return {
        **dict.fromkeys(("add", "async_add"), added),
        **dict.fromkeys(("delete", "adelete"), deleted),
        **dict.fromkeys(("delete_nodes", "adelete_nodes"), deleted_nodes),
    }


def store_name(store: Any) -> str:
    """A name that identifies a store in every process; a store in memory gets an identity of this process."""
    kind = type(store).__name__
    for attribute in ("collection_name", "index_name", "table_name"):
        said = getattr(store, attribute, None)
        if isinstance(said, str) and said:
            return f"{kind} {said}"
    collection = getattr(getattr(store, "_collection", None), "name", None)
    if isinstance(collection, str):
        return f"{kind} {collection}"
    # These stores are pydantic models and take no further attribute, so the data inside carries the identity.
    return placing.private_store(kind, getattr(store, "_data", None) or getattr(store, "data", None) or store)


def text_of(node: Any) -> str:
    """The text of a node, without metadata."""
    return str(node.get_content())


def _recording(tell: Callable[[Any, Any], None]) -> Wrapper:
    @contextmanager
    def recorded(call: Called) -> Iterator[Told]:
        if _busy.get():
            yield unheard
            return
        token = _busy.set(True)
        try:
            yield unheard
        finally:
            _busy.reset(token)
        _told(tell, call)

    return both(recorded)


def _told(tell: Callable[[Any, Any], None], call: Called) -> None:
    store = call.owner
    try:
        given = call.args[0] if call.args else next(iter(call.kwargs.values()), None)
        around, name = _around(), store_name(store)
        if around is not None:  # such as a tool of an agent
            home = placing.memory_home(name, "", what=type(store).__name__)
            around.root.place(home, is_shared=True)
            around.root.uses(home, is_written=True)
            token = scope.set(around.here)
            try:
                tell(store, given)
            finally:
                scope.reset(token)
            return
        with placing.of_memory(name, "", what=type(store).__name__) as place:
            if place.is_recorded:
                tell(store, given)
    except NotRecordedError:
        return
    except Exception as error:
        report("LlamaIndex vector store", error)


def _around() -> Run | None:
    """The run of LlamaIndex around this code, or the call of a memory that fills a block with the store."""
    span = import_module("llama_index.core.instrumentation.span").active_span_id.get()
    return memories.current.get() or runs.of(span)


def _added(store: Any, nodes: Any) -> None:
    here = scope.get()
    if here is None or not isinstance(nodes, Sequence) or not nodes:
        return
    run, name = single(here, "store"), store_name(store)
    of_document: dict[str, set[str]] = here.trace.notes.setdefault(_NODES, {})
    told = []
    for node in nodes:
        text = text_of(node)
        if getattr(node, "ref_doc_id", None):
            of_document.setdefault(str(node.ref_doc_id), set()).add(str(node.node_id))
        document = node.ref_doc_id or node.node_id
        came_from = sources(run, text) or [outside(here, text, f"document {document}", "Message")]
        told.append(((name, str(node.node_id)), text, came_from))
    making = Making(here, f"{type(store).__name__}.add", "Segmentation")
    for unit, text, came_from in told:
        for source in came_from:
            making.use(source)
        written(making, unit, text, sources=came_from, leaves=(text,))
    making.end()


def _deleted(store: Any, document: Any) -> None:
    here = scope.get()
    if here is not None:
        nodes = here.trace.notes.get(_NODES, {}).pop(str(document), set())
        _deleted_nodes(store, sorted(nodes))


def _deleted_nodes(store: Any, nodes: Any) -> None:
    here = scope.get()
    if here is None or not isinstance(nodes, Sequence):
        return
    gone = [newest(here, (store_name(store), str(one))) for one in nodes]
    units = [one for one in gone if one is not None]
    if not units:
        return
    making = Making(here, f"{type(store).__name__}.delete", "Deletion")
    for one in units:
        making.invalidate(one)
    making.end()
