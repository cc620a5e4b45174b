"""Finds elements by the ids and names that users type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, cast

from api.cli.render.text import short
from attribution.verdicts.stored import every_failure
from schema.errors import AmbiguousError, InputError, NotFoundError
from schema.kinds import VariableKind
from schema.models import Element, Failure, Operation, Session, Trace, Variable
from schema.readable import readable
from schema.words import words
from store.contract.answers import ALL_FAILURES, FailureKey, FailureOrder, Label
from store.contract.protocol import GraphStore
from store.shared.paging import elements, every, in_trace
from store.shared.resolving import ambiguous, by_name, is_prefix, is_whole_id, only_one, trace_by_name

LAST = ("last", "latest", "newest")
"""What was recorded last: a failure, a trace, or else an answer, unless something has this name."""
_MOST_TRACES = 1_000
"""Among so many traces, the newest ones, the last answer and the name of an operation are looked for."""
_MOST_QUESTIONS = 1_000
_ASKS = {VariableKind.QUERY, VariableKind.MESSAGE}
_MOST_VERSIONS = 10_000

E = TypeVar("E", Trace, Session, Operation, Variable, Failure)


async def find(store: GraphStore, model: type[E], reference: str, trace_id: str | None = None) -> E:
    """The element of this model that an id means; for variables and traces, also a name.

    ``last`` means the newest trace, the newest failure or the last answer, and the text of a question means the
    question.

    Raises:
        NotFoundError: no element matches; the message says what else has the id.
        AmbiguousError: several elements match.
    """
    try:
        return await _by_id_or_name(store, model, reference, trace_id)
    except NotFoundError:
        if reference.casefold() in LAST and (newest := await _newest(store, model, trace_id)):
            return newest
        if model is Variable and (asked := await questions_in_words(store, reference, trace_id)):
            return cast(E, only_one(asked, reference, Label.VARIABLE))
        if is_prefix(reference) or is_whole_id(reference):
            await _refuse_other(store, model, reference)
        raise


async def _by_id_or_name(store: GraphStore, model: type[E], reference: str, trace_id: str | None) -> E:
    try:
        found: Element = await store.resolve(reference, Label(model.__name__), trace_id)
    except NotFoundError:
        if model not in {Variable, Trace, Operation} or is_whole_id(reference):
            raise
        if model is Operation:
            return cast(E, only_one(await operations_named(store, reference, trace_id), reference, Label.OPERATION))
        by = trace_by_name(store, reference) if model is Trace else by_name(store, reference, trace_id)
        found = await by
    if not isinstance(found, model):
        raise NotFoundError(reference, model.__name__)
    return found


async def operations_named(store: GraphStore, name: str, trace_id: str | None) -> list[Operation]:
    """The operations with this name; ``search`` also finds ``Agent.search``.

    Only the newest traces of a project are looked at.
    """
    traces = [trace_id] if trace_id else [one.id async for one in every(lambda after: store.traces(after=after))]
    ends = (f".{name}", f" {name}")
    return [
        one
        for id_ in traces[-_MOST_TRACES:]
        for one in await elements(store, Operation, id_)
        if one.name and (one.name == name or one.name.endswith(ends))
    ]


async def _newest(store: GraphStore, model: type[E], trace_id: str | None) -> E | None:
    """The newest failure or trace, or the last answer; None if there is none, or for other models."""
    found: Element | None = None
    if model is Failure:
        found = await _newest_failure(store, trace_id)
    elif model is Trace:
        async for one in every(lambda after: store.traces(after=after)):
            found = one
    elif model is Variable:
        found = await last_answer(store, trace_id)
    return found if isinstance(found, model) else None


async def last_answer(store: GraphStore, trace_id: str | None) -> Variable | None:
    """The answer that was recorded last, in one trace or in the project; None if there is none."""
    ids = [trace_id] if trace_id else [one.id async for one in every(lambda after: store.traces(after=after))]
    found: list[Variable] = []
    for id_ in ids[-_MOST_TRACES:]:
        last = None
        async for one in in_trace(store, Label.VARIABLE, id_, [VariableKind.ANSWER.value]):
            last = one
        if isinstance(last, Variable):
            found.append(last)
    return max(reversed(found), key=lambda one: (one.created_at is not None, one.created_at), default=None)


async def questions_in_words(store: GraphStore, text: str, trace_id: str | None) -> list[Variable]:
    """The recorded questions with exactly these words, in any case of letters; else the messages.

    A program that is not decorated asks by messages.
    """
    wanted = words(text)
    if not wanted:
        return []
    hits = await store.search(text, trace_id, _MOST_QUESTIONS)
    said = [hit.variable for hit in hits if words(readable(hit.variable.preview)) == wanted]
    asked = [one for one in said if one.kind is VariableKind.QUERY]
    return asked or [one for one in said if one.kind is VariableKind.MESSAGE]


async def _refuse_other(store: GraphStore, model: type[Element], reference: str) -> None:
    """Refuse the id of something else, and say what it is."""
    try:
        other = await store.resolve(reference)
    except (NotFoundError, AmbiguousError):
        return
    if not isinstance(other, model):
        raise OtherKindError(other, model)


class OtherKindError(NotFoundError):
    """An id belongs to something else than what is wanted."""

    def __init__(self, found: Element, wanted: type[Element]) -> None:
        super().__init__(found.id)
        self.found = found
        what = found.kind.value if isinstance(found, Variable | Operation) else type(found).__name__
        place = "" if isinstance(found, Trace) else f" of the trace {short(found.trace_id)}"
        article = "an" if what[0] in "AEIOU" else "a"
        told = f"it means {article} {what}{place}. See: memtrace show {short(found.id)}"
        self.args = (f"{short(found.id)} is no {wanted.__name__.lower()}: {told}",)


async def find_trace_id(store: GraphStore, reference: str | None) -> str | None:
    """The id of the trace in ``--trace``; None without the option."""
    return (await find(store, Trace, reference)).id if reference else None


async def find_variable(store: GraphStore, reference: str, trace: str | None) -> Variable:
    """The variable with this id or name, if given in the trace with that id or name."""
    return await find(store, Variable, reference, await find_trace_id(store, trace))


async def find_any_version(store: GraphStore, reference: str, trace: str | None) -> Variable:
    """A variable; the name of something with several versions, such as a memory unit, means one of the versions.

    Raises:
        NotFoundError: no variable matches.
        AmbiguousError: several things match, not just versions of one thing.
    """
    try:
        return await find_variable(store, reference, trace)
    except AmbiguousError:
        named = await store.named(reference, None, await find_trace_id(store, trace), _MOST_VERSIONS)
        if not named or len(named) == _MOST_VERSIONS:
            raise
        if {one.id for one in named} - {one.id for one in await store.versions(named[0].id)}:
            raise
        return named[0]


async def find_cause(store: GraphStore, reference: str, trace: str | None) -> Variable | Operation | Failure:
    """The variable with this id or name; else the operation; else the failure; else the operation with this name.

    Raises:
        NotFoundError: no element matches.
        AmbiguousError: several elements of one label match, or one's id begins with another's name.
    """
    trace_id = await find_trace_id(store, trace)
    found: list[Variable | Operation | Failure] = []
    for label in (Label.VARIABLE, Label.OPERATION, Label.FAILURE):
        try:
            one = await store.resolve(reference, label, trace_id)
        except NotFoundError:
            continue
        assert isinstance(one, Variable | Operation | Failure)
        found.append(one)
        if not is_prefix(reference):
            break
    if len(found) > 1:
        raise ambiguous(reference, found)
    if found:
        return found[0]
    try:
        return await find(store, Variable, reference, trace_id)
    except OtherKindError:
        raise
    except NotFoundError:
        if named := await operations_named(store, reference, trace_id):
            return only_one(named, reference, Label.OPERATION)  # type: ignore[return-value]
        raise NotFoundError(reference, "variable, operation or failure") from None


async def find_failure(
    store: GraphStore, reference: str, trace_id: str | None = None, *, in_words: bool = True
) -> Failure:
    """The failure with this id; else the failure of the answer, or of the question, with this id or name.

    ``last`` means the failure that was recorded last. Words mean the only wrong answer whose question has them all.

    Raises:
        NotFoundError: no failure, answer or question matches.
        AmbiguousError: several failures match.
        InputError: the answer or the question exists, but no failure has it.
    """
    try:
        return await _by_id_or_name(store, Failure, reference, trace_id)
    except NotFoundError:
        pass
    try:
        named = await _by_id_or_name(store, Variable, reference, trace_id)
    except AmbiguousError:
        versions = await store.named(reference, None, trace_id, _MOST_VERSIONS)
        if versions and all(one.kind is VariableKind.MEMORY_UNIT for one in versions):
            raise _not_wrong(versions[-1]) from None
        raise
    except NotFoundError:
        if reference.casefold() in LAST and (newest := await _newest_failure(store, trace_id)):
            return newest
        if in_words and (asked := await _failures_in_words(store, reference, trace_id)):
            if len(asked) > 1:
                raise ambiguous(reference, asked) from None
            return asked[0]
        if is_prefix(reference) or is_whole_id(reference):
            await _refuse_other(store, Failure, reference)
        elif asked_right := await questions_in_words(store, reference, trace_id):
            raise _not_wrong(asked_right[0]) from None
        raise NotFoundError(reference, "failure or answer") from None
    failures = await every_failure(store, named.trace_id)
    matching = [one for one in failures if named.id in {one.answer_id, one.question_id}]
    if len(matching) > 1:
        raise ambiguous(reference, matching)
    if matching:
        return matching[0]
    raise _not_wrong(named)


def _not_wrong(named: Variable) -> InputError:
    if named.kind is VariableKind.ANSWER:
        problem = f'it is not marked as wrong. If it is, say: memtrace fail {short(named.id)} "the right answer"'
    elif named.kind is VariableKind.MEMORY_UNIT:
        id_ = short(named.id)
        problem = (
            f"it is a MemoryUnit, and only answers are wrong. Its history: memtrace versions {id_}; the answers that "
            f"it led to: memtrace closure {id_} --direction forward --kind Answer; wrong ones: memtrace answers --wrong"
        )
    else:
        problem = f"it is a {named.kind.value}, and no answer to it is marked as wrong. See: memtrace answers"
    return InputError(short(named.id), "", problem)


async def _failures_in_words(store: GraphStore, text: str, trace_id: str | None) -> list[Failure]:
    """The failures whose question has all these words; those with exactly these words, if there are any."""
    wanted = words(text)
    if not wanted:
        return []
    hits = await store.search(text, trace_id, _MOST_QUESTIONS)
    asked = {hit.variable.id: hit.variable for hit in hits if hit.variable.kind in _ASKS}
    traces = dict.fromkeys(one.trace_id for one in asked.values())
    found = [one for id_ in traces for one in await every_failure(store, id_) if one.question_id in asked]
    exact = [one for one in found if words(one.question) == wanted]
    return exact or [one for one in found if set(wanted) <= set(words(one.question))]


async def find_failures(store: GraphStore, references: Sequence[str]) -> list[Failure]:
    """The failures that each reference means: one failure, or all of a trace; else the words of one question.

    Raises:
        NotFoundError: no failure, answer, question or trace matches.
        AmbiguousError: several elements match.
        InputError: the answer or the question exists, but no failure has it.
    """
    if len(references) == 1:
        return await _failures_meant(store, references[0])
    if asked := await _failures_in_words(store, " ".join(references), None):
        return asked
    return [failure for reference in references for failure in await _failures_meant(store, reference, in_words=False)]


async def _failures_meant(store: GraphStore, reference: str, *, in_words: bool = True) -> list[Failure]:
    try:
        return [await find_failure(store, reference, in_words=in_words)]
    except NotFoundError:
        pass
    except AmbiguousError:
        if several := await _failures_in_words(store, reference, None):
            return several
        raise
    try:
        trace = await find(store, Trace, reference)
    except OtherKindError as error:
        raise OtherKindError(error.found, Failure) from None
    except NotFoundError:
        raise NotFoundError(reference, "failure, answer or trace") from None
    return await every_failure(store, trace.id)


async def _newest_failure(store: GraphStore, trace_id: str | None) -> Failure | None:
    """The failure that was recorded last, in one trace or in the project."""
    page = await store.failures(trace_id, 1, None, ALL_FAILURES, FailureOrder(FailureKey.TIME, descending=True))
    return next(iter(page.items), None)


async def find_anything(store: GraphStore, reference: str) -> Element:
    """The element with this id; else the variable, the trace or the operation with this name.

    Raises:
        NotFoundError: nothing matches.
        AmbiguousError: several elements match.
    """
    try:
        return await store.resolve(reference)
    except NotFoundError:
        if is_whole_id(reference):
            raise
    try:
        return await find_any_version(store, reference, None)
    except NotFoundError:
        pass
    try:
        return await _by_id_or_name(store, Trace, reference, None)
    except NotFoundError:
        return only_one(await operations_named(store, reference, None), reference, None)
