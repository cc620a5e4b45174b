"""Notes the spans of LlamaIndex as runs, which nest, and records their errors."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from memtrace.faults import report
from memtrace.instruments import placing
from memtrace.instruments.frameworks import answering
from memtrace.instruments.frameworks.runs import Run, runs
from memtrace.instruments.llamaindex import events
from memtrace.instruments.llamaindex.memories import conversation, join, live_in
from memtrace.instruments.llamaindex.stores import store_name
from memtrace.instruments.placing import NotRecordedError
from memtrace.values import plain_tree


class Spans:
    """The methods that the dispatcher calls; ``instrument`` makes a subclass together with LlamaIndex's own class."""

    def new_span(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any = None,
        parent_span_id: str | None = None,
        tags: Any = None,
        **more: Any,
    ) -> None:
        """Note the beginning of a call."""
        try:
            arguments = {name: value for name, value in bound_args.arguments.items() if name != "self"}
            metadata = {} if parent_span_id else _conversation(instance)
            name = id_.partition("-")[0]
            run = runs.enter(id_, parent_span_id, "chain", name, arguments, metadata, is_named_by_package=True)
            if run is not None and run.parent is None:
                run.root.what = "LlamaIndex"
                join(run, arguments.values())
                _join_documents(run, instance, arguments)
            if run is not None and _is_postprocessing(id_, instance):
                run.kind, run.inputs = _POSTPROCESSING, arguments
            store = getattr(instance, "_vector_store", None)
            if run is not None and store is not None:
                run.store_name = store_name(store)
                run.limits = {"store": run.store_name, **_filters(instance)}
                home = placing.memory_home(run.store_name, "", what=type(store).__name__)
                run.root.place(home, is_shared=True)
                run.root.uses(home)
        except NotRecordedError:
            return
        except Exception as error:
            report("LlamaIndex new_span", error)

    def prepare_to_exit_span(self, id_: str, *said: Any, result: Any = None, **more: Any) -> None:
        """Note the end of a call. A stream goes on: its operation ends with its last event."""
        run = runs.leave(id_)
        try:
            if run is not None and run.kind == _POSTPROCESSING and isinstance(run.inputs, dict):
                events.postprocessed(
                    run, run.name.partition(".")[0], run.inputs.get("nodes") or (), _query(run.inputs), result or ()
                )
            elif run is not None:
                answering.give(run, answering.text_of(result))
        except NotRecordedError:
            return
        except Exception as error:
            report("LlamaIndex prepare_to_exit_span", error)

    def prepare_to_drop_span(self, id_: str, *said: Any, err: BaseException | None = None, **more: Any) -> None:
        """Record the error of a call."""
        run = runs.leave(id_)
        try:
            if run is not None and run.making is not None:
                run.making.end(err or RuntimeError("the call was dropped"))
        except Exception as error:
            report("LlamaIndex prepare_to_drop_span", error)


_POSTPROCESSING = "postprocessing"
"""The kind of a run that chooses among the nodes of a retrieval."""


def _is_postprocessing(id_: str, instance: Any) -> bool:
    return "._postprocess_nodes" in id_ and any(
        kind.__name__ == "BaseNodePostprocessor" for kind in type(instance).__mro__
    )


def _query(arguments: dict[str, Any]) -> str | None:
    """The question that a postprocessor is given; None if it is given none."""
    bundle = arguments.get("query_bundle")
    text = getattr(bundle, "query_str", None)
    return text if isinstance(text, str) else None


def _join_documents(run: Run, engine: Any, arguments: Mapping[str, Any]) -> None:
    """Let a chat engine or agent that searches one vector store belong to the store's trace.

    Its conversation is a session there.
    """
    memory, store = getattr(engine, "_memory", None) or _memory(arguments), _searched(engine)
    if memory is None or store is None or run.root.placed is not None:
        return
    name = store_name(store)
    home = placing.memory_home(name, "", what=type(store).__name__, session=conversation(memory))
    run.root.place(home, is_shared=True)
    live_in(memory, home)


def _memory(arguments: Mapping[str, Any]) -> Any:
    """The memory with which an agent is run; None if it is given none."""
    given = (getattr(one, "memory", None) for one in arguments.values())
    return next((one for one in given if any(kind.__name__ == "BaseMemory" for kind in type(one).__mro__)), None)


def _searched(engine: Any) -> Any:
    """The vector store that an engine's retriever searches, or the only one of an agent's tools; else None."""
    if (tools := getattr(engine, "tools", None)) is not None:
        found = {id(store): store for one in tools if (store := _searched(one)) is not None}
        return next(iter(found.values())) if len(found) == 1 else None
    for holder in (engine, *(getattr(engine, name, None) for name in ("_query_engine", "query_engine"))):
        retriever = getattr(holder, "_retriever", None)
        store = getattr(retriever, "_vector_store", None)
        if store is not None:
            return store
    return None


def _conversation(instance: Any) -> dict[str, str]:
    """The conversation of a chat engine as metadata of a run, identified by the engine's memory."""
    memory = getattr(instance, "_memory", None)
    return {} if memory is None else {"session_id": conversation(memory)}


def _filters(retriever: Any) -> dict[str, Any]:
    """What a retriever's filters on metadata want, by key; filters in groups are written out."""
    filters = getattr(getattr(retriever, "_filters", None), "filters", None)
    told: dict[str, Any] = {}
    for one in filters or ():
        key = getattr(one, "key", None)
        operator = str(getattr(getattr(one, "operator", None), "value", "=="))
        if isinstance(key, str):
            told[key if operator == "==" else f"{key} {operator}"] = plain_tree(one.value)
        else:
            told["filters"] = str(one)
    return {"filters": told} if told else {}
