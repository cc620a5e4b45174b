"""Records searches: the documents that a retriever or vector store found for a query, and the candidates."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

from memtrace.identity import Variable
from memtrace.instruments.frameworks.runs import Run, is_writing
from memtrace.instruments.frameworks.values import asked
from memtrace.instruments.making import Making, gave, known, learn, searched_for
from memtrace.instruments.texts import texts
from memtrace.instruments.units import Unit, current, key_of_text, read

Hit = tuple[Any, Unit, float | None]
"""A document that a vector store found, its unit, and its score."""

searching: ContextVar[Run | None] = ContextVar("memtrace.langchain.searching", default=None)
"""The retriever that runs here; hits of vector stores inside are its candidates."""


def begin(run: Run, query: str) -> None:
    """Record the beginning of a search."""
    run.making = Making(run.here, run.name, "Retrieval")
    run.question = asked(run, run.making, query, is_writing=is_writing())
    searched_for(run.here, query, run.question)


def end(run: Run, documents: Sequence[Any]) -> None:
    """Record the documents that a search returns, and its end."""
    if run.making is None:
        begin(run, str(run.inputs))
    making = run.making
    if making is None:
        return
    units = {id(one): (name, score) for one, name, score in run.hits}
    by_text = {str(one.page_content): (name, score) for one, name, score in run.hits}
    found: list[tuple[Any, Variable]] = []
    for one in documents:
        text = str(one.page_content)
        hit = units.get(id(one)) or by_text.get(text)
        before = None if hit is not None else known(run.here, one, run.asked)
        if before is None and hit is None:
            before = _passage(run, text)
        if before is not None and before.kind in {"MemoryUnit", "RetrievalResult"}:
            found.append((one, before))
            continue
        name = hit[0] if hit else (run.name, str(one.id) if getattr(one, "id", None) else key_of_text(text))
        found.append((one, current(run.here, name, text)))
    considered = _considered(run) or [(unit, _score(one)) for one, unit in found]
    if run.question is not None:
        making.consider(run.question, considered, [unit for _, unit in found])
    for one, unit in found:
        text = str(one.page_content)
        made = read(making, unit, text, objects=(one, one.page_content), leaves=(text,))
        gave(run.here, one, made, is_own=True)
        gave(run.here, one.page_content, made)
    making.end(attributes=run.noted)


def reranked(run: Run, name: str, documents: Sequence[Any], query: str) -> Making:
    """Record the beginning of a reranker; returns its operation."""
    making = Making(run.here, name, "Retrieval")
    run.making, run.question = making, asked(run, making, query, is_writing=is_writing())
    run.hits = []
    return making


def chosen(run: Run, documents: Sequence[Any], kept: Sequence[Any]) -> None:
    """Record the documents that a reranker kept or made from its input documents, and its end."""
    making = run.making
    if making is None or run.question is None:
        return
    given = [(one, known(run.here, one, run.asked)) for one in documents]
    pairs = [(one, unit if unit is not None else _outside(run, one)) for one, unit in given]
    scores = {id(one): _score(one) for one in kept}
    known_kept = {id(one): unit for one, unit in pairs}
    by_text = {str(one.page_content): unit for one, unit in pairs}
    found = [(one, known_kept.get(id(one)) or by_text.get(str(one.page_content))) for one in kept]
    returned = [unit for _, unit in found if unit is not None]
    ranked = [(unit, scores.get(id(one))) for one, unit in sorted(pairs, key=lambda pair: -_rank(scores, pair[0]))]
    making.consider(run.question, ranked, returned)
    for one, unit in found:
        text = str(one.page_content)
        if unit is not None:
            read(making, unit, text, objects=(one, one.page_content), leaves=(text,))
            continue
        holder = [of for of, source in pairs if text and text in str(of.page_content)]
        came_from = [source for of, source in pairs if any(of is item for item in holder)] or [u for _, u in pairs]
        for source in came_from:
            making.use(source)
        made = making.make(text, "passage", "RetrievalResult", sources=[run.question, *came_from])
        learn(run.here, one, made)
        learn(run.here, one.page_content, made)
    making.end()


def _considered(run: Run) -> list[tuple[Variable, float | None]]:
    best: dict[Unit, tuple[Any, float | None]] = {}
    for one, name, score in run.hits:
        if name not in best or best[name][1] is None:
            best[name] = one, score
    return [(current(run.here, name, str(one.page_content)), score) for name, (one, score) in best.items()]


def _outside(run: Run, document: Any) -> Variable:
    text = str(document.page_content)
    key = str(document.id) if getattr(document, "id", None) else key_of_text(text)
    return current(run.here, ("documents", key), text)


def _passage(run: Run, text: str) -> Variable | None:
    found = texts(run.here.trace).equal(text, run.asked)
    return found if found is not None and found.kind in {"MemoryUnit", "RetrievalResult"} else None


def _score(document: Any) -> float | None:
    metadata = getattr(document, "metadata", None) or {}
    for key in ("relevance_score", "score"):
        value = metadata.get(key)
        if isinstance(value, int | float) or (hasattr(value, "item") and not isinstance(value, str)):
            return float(value)  # type: ignore[arg-type]
    return None


def _rank(scores: dict[int, float | None], document: Any) -> float:
    score = scores.get(id(document))
    return float("-inf") if score is None else score
