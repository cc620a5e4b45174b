"""Records the events of LlamaIndex's dispatcher: retrievals with scores, reranking, calls of models, embeddings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from memtrace.faults import report
from memtrace.identity import Variable
from memtrace.instruments.frameworks import answering
from memtrace.instruments.frameworks.buffers import buffer
from memtrace.instruments.frameworks.replies import replied
from memtrace.instruments.frameworks.runs import Run, runs
from memtrace.instruments.frameworks.values import asked, same, write
from memtrace.instruments.llamaindex.blocks import Filling, filling
from memtrace.instruments.llamaindex.memories import current as memory_call
from memtrace.instruments.llamaindex.memories import said
from memtrace.instruments.llamaindex.stores import text_of
from memtrace.instruments.making import Making, gave, known, learn, searched_for
from memtrace.instruments.placing import NotRecordedError
from memtrace.instruments.units import current, read

_open: dict[str, tuple[Run, Making]] = {}
"""Running operations by the kind of their events and the span; a stream ends after its span."""

MAX_OPEN = 20_000


class Events:
    """The method that LlamaIndex calls; ``instrument`` makes a subclass together with LlamaIndex's own class."""

    @classmethod
    def class_name(cls) -> str:
        """The name of the class, for LlamaIndex."""
        return "MemTraceEvents"

    def handle(self, event: Any, **more: Any) -> None:
        """Record an event."""
        tell = _TOLD.get(type(event).__name__)
        if tell is None:
            return
        try:
            tell(event)
        except NotRecordedError:
            return
        except Exception as error:
            report(f"LlamaIndex {type(event).__name__}", error)


def _begin(kind: str, event: Any, name: str, operation: str, **said: Any) -> tuple[Run, Making] | None:
    run = runs.of(event.span_id)
    if run is None:
        return None
    making = run.making = Making(run.here, name, operation, **said)
    if len(_open) > MAX_OPEN:
        _open.pop(next(iter(_open)), None)
    _open[f"{kind} {event.span_id}"] = run, making
    return run, making


def _retrieval(event: Any) -> None:
    run = runs.of(event.span_id)
    limits = None if run is None else run.limits
    begun = _begin("retrieval", event, _name(event), "Retrieval", attributes=limits)
    if begun is None:
        return
    run, making = begun
    query = _query(event.str_or_query_bundle)
    run.question = asked(run, making, query, is_writing=False)
    searched_for(run.here, query, run.question)


def _retrieved(event: Any) -> None:
    begun = _open.pop(f"retrieval {event.span_id}", None)
    if begun is None:
        return
    run, making = begun
    units = []
    for found in event.nodes:
        text = text_of(found.node)
        before = known(run.here, found.node, run.asked)
        before = before if before is not None and before.reads is not None else None
        name = (run.store_name or _name(event), str(found.node.node_id))
        units.append((found, text, before or current(run.here, name, text)))
    if run.question is not None:
        making.consider(run.question, [(unit, _score(one)) for one, _, unit in units], [unit for _, _, unit in units])
    for found, text, unit in units:
        _give(run, making, found, text, unit)
    making.end()


def _give(run: Run, making: Making, found: Any, text: str, unit: Variable) -> None:
    own = getattr(found.node, "text", text)
    made = read(making, unit, text, objects=(found.node, own), leaves=(text,))
    gave(run.here, found.node, made)
    gave(run.here, text, made)


def _reranking(event: Any) -> None:
    begun = _begin("rerank", event, _name(event), "Retrieval")
    if begun is None:
        return
    run, making = begun
    if event.query is not None:
        run.question = asked(run, making, _query(event.query), is_writing=False)
    run.candidates = [(found, same(run, text_of(found.node))) for found in event.nodes]


def _reranked(event: Any) -> None:
    begun = _open.pop(f"rerank {event.span_id}", None)
    if begun is not None:
        _choose(*begun, event.nodes)


def postprocessed(run: Run, name: str, given: Sequence[Any], query: str | None, kept: Any) -> None:
    """Record a postprocessor that chose among nodes and sent no events of a reranking.

    One that keeps all nodes in their order, or changes texts, chooses nothing.
    """
    before = {str(found.node.node_id): text_of(found.node) for found in given}
    after = {str(found.node.node_id): text_of(found.node) for found in kept}
    if run.making is not None or list(before) == list(after) or not after.items() <= before.items():
        return
    making = run.making = Making(run.here, name, "Retrieval")
    if query:
        run.question = asked(run, making, query, is_writing=False)
    run.candidates = [(found, same(run, text_of(found.node))) for found in given]
    for _, unit in run.candidates:
        if unit is not None:
            making.use(unit, "candidate")
    _choose(run, making, kept)


def _choose(run: Run, making: Making, nodes: Sequence[Any]) -> None:
    """Record which of the candidates a reranking kept."""
    units = {str(found.node.node_id): unit for found, unit in run.candidates if unit is not None}
    kept = [(found, units.get(str(found.node.node_id))) for found in nodes]
    scores = {str(found.node.node_id): _score(found) for found in nodes}
    first = [(unit, scores[str(found.node.node_id)]) for found, unit in kept if unit is not None]
    rest = [(unit, None) for key, unit in units.items() if key not in scores]
    if run.question is not None:
        making.consider(run.question, [*first, *rest], [unit for unit, _ in first])
    for found, unit in kept:
        if unit is not None:
            _give(run, making, found, text_of(found.node), unit)
    making.end()


def _chat(event: Any) -> None:
    run = runs.of(event.span_id)
    if run is None or _is_inside_a_call(run):
        return
    outer = memory_call.get()
    if outer is not None and run.parent is None:  # a model that a memory calls belongs to the memory's trace
        run.root, run.parent = outer.root, outer
    messages = [said(one) for one in event.messages]
    filled = filling.get()
    if filled is not None:
        _extract(event, run, filled, messages)
        return
    spoken = [one for one in messages if one.type != "system"]
    written = [one for one in messages if one.type == "system"]
    used: list[tuple[Variable, str]] = []
    if outer is None and (len(spoken) > 1 or run.root.session):
        used.append((buffer(run, "messages", spoken), "messages"))
    else:
        written = messages
    if written:
        used.append((write(run, _text(written)), "prompt"))
    turn = next((one for one in reversed(spoken) if one.type == "human"), None)
    asked_now = None if turn is None or written is messages else _asked(run, turn, spoken)
    if asked_now is not None:
        used.append((asked_now, "question"))
    begun = _begin("chat", event, _model(event), "Generation", attributes=_attributes(event))
    for variable, role in used if begun is not None else ():
        begun[1].use(variable, role)  # type: ignore[index]
    if asked_now is not None:
        run.question = asked_now


def _asked(run: Run, turn: Any, spoken: list[Any]) -> Variable | None:
    """What the user said, which a model answers: the newest message, or the turn to which an agent's loop belongs."""
    found = same(run, turn.content)
    if found is not None and found.kind == "Message":
        run.root.turn = found
        return found
    before = run.root.turn  # the newest message tells the result of a tool
    return before if any(same(run, one.content) is before for one in spoken if one.type == "human") else None


def _extract(event: Any, run: Run, filled: Filling, messages: list[Any]) -> None:
    """Record a call of a model that extracts from flushed messages, which a memory's block asks."""
    filled.store()  # what the model's earlier reply changed
    asking = messages[len(filled.messages) :] or messages
    texts = {one.content for one in asking}
    run.root.given = {key: one for key, one in run.root.given.items() if one[1] not in texts}  # no messages of a user
    prompt = write(run, _text(asking))
    begun = _begin("chat", event, _model(event), "Extraction", attributes=_attributes(event))
    if begun is not None:
        for one in filled.messages:
            begun[1].use(one, "message")
        begun[1].use(prompt, "prompt")


def _text(messages: list[Any]) -> str:
    return "\n\n".join(f"{one.type}: {one.content}" for one in messages) if len(messages) > 1 else messages[0].content


def _completion(event: Any) -> None:
    run = runs.of(event.span_id)
    if run is None or _is_inside_a_call(run):
        return
    prompt = write(run, event.prompt)
    begun = _begin("completion", event, _model(event), "Generation", attributes=_attributes(event))
    if begun is not None:
        begun[1].use(prompt, "prompt")


def _replied(event: Any) -> None:
    begun = _open.pop(f"chat {event.span_id}", None) or _open.pop(f"completion {event.span_id}", None)
    if begun is None:
        return
    run, making = begun
    message = getattr(event.response, "message", None)
    text = getattr(message, "content", None) if message is not None else getattr(event.response, "text", None)
    spoken = None if message is None else said(message)
    text = text if isinstance(text, str) else ""
    if text or (spoken is not None and spoken.tool_calls):
        made = replied(making, text if spoken is None else spoken)
        run.root.carried |= made.questions  # the model has read the history of earlier turns
        for one in (message, text):
            if one:
                learn(run.here, one, made)
        if text:
            gave(run.here, text, made)
        filled = filling.get()
        if filled is not None:
            filled.replies.append(made)
        elif spoken is None or not spoken.tool_calls:
            answering.replied(run, text, made)
    making.end()


def _synthesized(event: Any) -> None:
    """Record an answer that no model gave: an engine that finds nothing says so itself."""
    run, text = runs.of(event.span_id), getattr(event.response, "response", None)
    if run is None or not isinstance(text, str) or not text or getattr(event.response, "source_nodes", None):
        return
    query = _query(event.query)
    question = run.root.searched.get(query)
    if question is None or same(run, text) is not None:
        return
    making = Making(run.here, _name(event), "Generation")
    making.use(question, "question")
    made = making.make(text, "reply", "Response")
    gave(run.here, text, made)
    answering.replied(run, text, made)
    making.end()


def _embedding(event: Any) -> None:
    run = runs.of(event.span_id)
    if run is not None and run.root.placed is not None:
        _begin("embedding", event, _model(event), "Embedding")


def _embedded(event: Any) -> None:
    begun = _open.pop(f"embedding {event.span_id}", None)
    if begun is None:
        return
    run, making = begun
    for text in event.chunks:
        found = same(run, text)
        if found is not None:
            making.use(found, "text")
    making.end(attributes={"texts": len(event.chunks)})


def _is_inside_a_call(run: Run) -> bool:
    """Whether a model's call is recorded around a run: a completion by a chat model is one call."""
    around: Run | None = run
    while around is not None:
        if around.making is not None and around.making.step.maker[1] == "Generation":
            return True
        around = around.parent
    return False


def _query(given: Any) -> str:
    return given if isinstance(given, str) else str(given.query_str)


def _name(event: Any) -> str:
    return str(event.span_id or type(event).__name__).partition(".")[0]


def _model(event: Any) -> str:
    said = getattr(event, "model_dict", {})
    return str(said.get("class_name") or _name(event))


def _attributes(event: Any) -> dict[str, str] | None:
    model = event.model_dict.get("model")
    return {"model": str(model)} if model else None


def _score(found: Any) -> float | None:
    return None if found.score is None else float(found.score)


_TOLD: dict[str, Callable[[Any], None]] = {
    "RetrievalStartEvent": _retrieval,
    "RetrievalEndEvent": _retrieved,
    "ReRankStartEvent": _reranking,
    "ReRankEndEvent": _reranked,
    "LLMChatStartEvent": _chat,
    "LLMChatEndEvent": _replied,
    "LLMCompletionStartEvent": _completion,
    "LLMCompletionEndEvent": _replied,
    "SynthesizeEndEvent": _synthesized,
    "EmbeddingStartEvent": _embedding,
    "EmbeddingEndEvent": _embedded,
}
