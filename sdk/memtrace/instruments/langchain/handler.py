"""The callbacks of LangChain. All runs share one handler, in every context and thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from memtrace.faults import report
from memtrace.identity import Variable
from memtrace.instruments.frameworks import answering, histories
from memtrace.instruments.frameworks.messages import is_message, leaves
from memtrace.instruments.frameworks.runs import Run, runs
from memtrace.instruments.frameworks.values import given, same, sources
from memtrace.instruments.langchain import models, prompts, retrieval, tools
from memtrace.instruments.making import Making, gave, learn
from memtrace.instruments.placing import NotRecordedError
from memtrace.scripts import is_word


def _told(method: Callable[..., None]) -> Callable[..., None]:
    """A callback that reports errors of the recorder and never raises them."""

    @wraps(method)
    def guarded(*args: Any, **kwargs: Any) -> None:
        try:
            method(*args, **kwargs)
        except NotRecordedError:
            return
        except Exception as error:
            report(f"LangChain {method.__name__}", error)

    return guarded


class Handler:
    """The methods that LangChain calls; ``instrument`` makes a subclass together with LangChain's class of handlers."""

    run_inline = True
    """LangChain must call the handler in the thread of the run."""
    raise_error = False

    @_told
    def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: Any, parent_run_id: Any = None, metadata: Any = None, **more: Any
    ) -> None:
        """Note that a chain, graph, node, function or template begins."""
        kind = str(more.get("run_type") or "chain")
        runs.enter(run_id, parent_run_id, kind, _name(serialized, more, kind), inputs, metadata)

    @_told
    def on_chain_end(self, outputs: Any, *, run_id: Any, **more: Any) -> None:
        """Record the new texts of a chain, graph, node, function or template that ended."""
        run = runs.leave(run_id)
        if run is not None:
            _later(run, lambda: _ended(run, outputs))

    @_told
    def on_chain_error(self, error: BaseException, *, run_id: Any, **more: Any) -> None:
        """Record the error of a chain, graph, node, function or template."""
        run = runs.leave(run_id)
        if run is not None:
            _later(run, lambda: _fail(run, error))

    @_told
    def on_retriever_start(
        self, serialized: Any, query: Any, *, run_id: Any, parent_run_id: Any = None, metadata: Any = None, **more: Any
    ) -> None:
        """Note that a retriever begins."""
        run = runs.enter(run_id, parent_run_id, "retriever", _name(serialized, more, "retriever"), query, metadata)
        if run is not None:
            run.before = retrieval.searching.get()
            retrieval.searching.set(run)
            run.inputs = query if isinstance(query, str) else str(query)
            if run.root.placed is not None:
                retrieval.begin(run, run.inputs)

    @_told
    def on_retriever_end(self, documents: Any, *, run_id: Any, **more: Any) -> None:
        """Record the documents of a retriever."""
        run = runs.leave(run_id)
        if run is not None:
            retrieval.searching.set(run.before)
            retrieval.end(run, list(documents))

    @_told
    def on_retriever_error(self, error: BaseException, *, run_id: Any, **more: Any) -> None:
        """Record the error of a retriever."""
        run = runs.leave(run_id)
        if run is not None:
            retrieval.searching.set(run.before)
            _fail(run, error)

    @_told
    def on_chat_model_start(
        self,
        serialized: Any,
        messages: Any,
        *,
        run_id: Any,
        parent_run_id: Any = None,
        metadata: Any = None,
        **more: Any,
    ) -> None:
        """Record a call of a chat model."""
        given = messages[0] if messages else []
        run = runs.enter(run_id, parent_run_id, "model", _name(serialized, more, "model"), given, metadata)
        if run is not None:
            models.begin(run, given, more.get("invocation_params"))

    @_told
    def on_llm_start(
        self,
        serialized: Any,
        prompts: Any,
        *,
        run_id: Any,
        parent_run_id: Any = None,
        metadata: Any = None,
        **more: Any,
    ) -> None:
        """Record a call of a text model."""
        given = prompts[0] if prompts else ""
        run = runs.enter(run_id, parent_run_id, "model", _name(serialized, more, "model"), given, metadata)
        if run is not None:
            models.begin(run, str(given), more.get("invocation_params"))

    @_told
    def on_llm_end(self, response: Any, *, run_id: Any, **more: Any) -> None:
        """Record a model's reply."""
        run = runs.leave(run_id)
        if run is not None:
            models.end(run, response)

    @_told
    def on_llm_error(self, error: BaseException, *, run_id: Any, **more: Any) -> None:
        """Record a model's error."""
        _fail(runs.leave(run_id), error)

    @_told
    def on_tool_start(
        self,
        serialized: Any,
        input_str: Any,
        *,
        run_id: Any,
        parent_run_id: Any = None,
        metadata: Any = None,
        inputs: Any = None,
        **more: Any,
    ) -> None:
        """Record a call of a tool."""
        given = inputs if isinstance(inputs, Mapping) else {"input": input_str}
        run = runs.enter(run_id, parent_run_id, "tool", _name(serialized, more, "tool"), given, metadata)
        if run is not None:
            tools.begin(run)

    @_told
    def on_tool_end(self, output: Any, *, run_id: Any, **more: Any) -> None:
        """Record a tool's result."""
        run = runs.leave(run_id)
        if run is not None:
            tools.end(run, output)

    @_told
    def on_tool_error(self, error: BaseException, *, run_id: Any, **more: Any) -> None:
        """Record a tool's error."""
        _fail(runs.leave(run_id), error)


def _later(run: Run, record: Callable[[], None]) -> None:
    """Write a record once the trace is chosen, at the latest when the outermost run ends."""
    if run.parent is not None and run.root.later(record):
        return
    if run.root.waiting:
        run.root.place()
    record()


@_told
def _ended(run: Run, outputs: Any) -> None:
    """Record the end of a chain, graph, node, function or template."""
    if run.kind == "prompt":
        prompts.formatted(run, outputs)
        return
    try:
        if run.kind in {"node", "chain"}:
            histories.returned(run, outputs)
        _transformed(run, outputs)
        answering.give(run, outputs)
    finally:
        if run.making is not None:
            run.making.end()


@_told
def _fail(run: Run | None, error: BaseException) -> None:
    if run is not None and run.making is not None:
        run.making.end(error)


def _name(serialized: Any, more: Mapping[str, Any], otherwise: str) -> str:
    if more.get("name"):
        return str(more["name"])
    if isinstance(serialized, Mapping):
        if serialized.get("name"):
            return str(serialized["name"])
        if serialized.get("id"):
            return str(serialized["id"][-1])
    return otherwise


def _transformed(run: Run, outputs: Any) -> None:
    """Record each new text in the outputs of a function or node that derives from known texts."""
    for key, leaf in list(leaves(outputs)):
        if not isinstance(leaf, str):
            if is_message(leaf):
                text = leaf.content if isinstance(leaf.content, str) else None  # type: ignore[attr-defined]
                found = same(run, text) if text else None
                if found is not None and same(run, leaf) is None and found.kind in {"Response", "Message"}:
                    learn(run.here, leaf, found)
            continue
        found = same(run, leaf)
        if found is not None:
            gave(run.here, leaf, found)
            continue
        if id(leaf) in run.root.given or is_word(leaf):
            continue  # passed on unchanged: the first step that uses the text decides its kind
        came_from = sources(run, leaf)
        if same(run, leaf) is not None:
            continue
        if not came_from and isinstance(outputs, str) and not run.is_graph:
            came_from = _given_to(run)
        if not came_from:
            continue
        node = run.making if run.kind == "node" else None
        making = node or Making(run.here, run.name, "Other")
        for one in came_from:
            making.use(one)
        is_context = any(one.kind in {"MemoryUnit", "RetrievalResult", "Context"} for one in came_from)
        kind = "Context" if is_context else "Other"
        made = making.make(leaf, key or f"{run.name} output", kind, sources=came_from)
        if node is None:
            making.end()
        gave(run.here, leaf, made)


def _given_to(run: Run) -> list[Variable]:
    """The variables of a function's inputs: known values, and texts from outside that nothing has used yet."""
    found: dict[Variable, None] = {}
    for _, leaf in leaves(run.inputs):
        one = same(run, leaf)
        if one is None and isinstance(leaf, str) and id(leaf) in run.root.given:
            one = given(run, leaf, run.root.given[id(leaf)][0] or "input")
        if one is not None:
            found[one] = None
    return list(found)
