"""Finds elements by the ids and names that users type."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar, cast

from api.cli.answers_by_text import answers_in_words
from api.cli.errors import note
from api.cli.meant import Lead, OtherKindError, meant
from api.cli.newest import LAST, MOST_TRACES, newest
from api.cli.render.text import short
from attribution.verdicts.stored import every_failure
from schema.errors import AmbiguousError, InputError, NotFoundError
from schema.kinds import VariableKind
from schema.models import Element, Failure, Operation, Session, Trace, Variable
from schema.readable import readable
from schema.words import words
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.shared.paging import elements, every
from store.shared.resolving import ambiguous, by_name, is_prefix, is_whole_id, only_one, trace_by_name

_MOST_QUESTIONS = 1_000
_ASKS = {VariableKind.QUERY, VariableKind.MESSAGE}
_MOST_VERSIONS = 10_000
_IN_WORDS = re.compile(r"[^\W\d_]++(?:[\s',-]++[\w']++)*+[?.!]?")
"""Words as people write them, unlike ids and the names of units."""

E = TypeVar("E", Trace, Session, Operation, Variable, Failure)


async def find(
    store: GraphStore,
    model: type[E],
    reference: str,
    trace_id: str | None = None,
    lead: Lead = Lead.NEAREST,
    *,
    in_words: bool = True,
) -> E:
    """The element of this model that an id means; for variables and traces, also a name.

    ``last`` means the newest trace, failure or operation, or the last answer. The text of a question means the
    question, and words that only one variable has mean this variable. The id of something else means what it leads to
    (``api.cli.meant``), and the name of several versions of one thing the newest of these.

    Raises:
        NotFoundError: no element matches; the message says what else has the id.
        AmbiguousError: several elements match.
    """
    try:
        return await by_id_or_name(store, model, reference, trace_id)
    except AmbiguousError:
        if model is Variable and lead is Lead.NEAREST and (one := await _newest_version(store, reference, trace_id)):
            return one  # type: ignore[return-value]
        raise
    except NotFoundError as error:
        if reference.casefold() in LAST and (last := await newest(store, model, trace_id)):
            return cast(E, last)
        if (other := await _other(store, reference)) and not isinstance(other, model):
            led_to = await meant(store, other, model, lead, reference)
            if trace_id is None or isinstance(led_to, Trace) or led_to.trace_id == trace_id:
                return led_to
            raise OtherKindError(other, model) from None
        if model is Variable and (asked := await questions_in_words(store, reference, trace_id)):
            return cast(E, only_one(asked, reference, Label.VARIABLE))
        if model is Variable and lead is Lead.NEAREST and in_words:
            return await find_in_words(store, reference, trace_id)  # type: ignore[return-value]
        raise error


async def by_id_or_name(store: GraphStore, model: type[E], reference: str, trace_id: str | None) -> E:
    """The element that an id or a name means.

    Raises:
        NotFoundError: none does.
        AmbiguousError: several do.
    """
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
        for id_ in traces[-MOST_TRACES:]
        for one in await elements(store, Operation, id_)
        if one.name and (one.name == name or one.name.endswith(ends))
    ]


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


async def find_trace_id(store: GraphStore, reference: str | None) -> str | None:
    """The id of the trace in ``--trace``; None without the option. See ``find_trace``."""
    return (await find_trace(store, reference)).id if reference else None


async def find_trace(store: GraphStore, reference: str) -> Trace:
    """The trace that an id or a name means, or a part of its name, such as the user's.

    Raises:
        NotFoundError: no trace matches.
        AmbiguousError: several traces match.
    """
    try:
        return await find(store, Trace, reference)
    except NotFoundError:
        part = reference.casefold()
        every_trace = every(lambda after: store.traces(after=after))
        named = [one async for one in every_trace if part in f"{one.name or ''}\n{one.external_id}".casefold()]
        found = cast(Trace, only_one(named, reference, Label.TRACE))
        note(f"{reference} is in the name of the trace {short(found.id)}.")
        return found


async def find_variable(
    store: GraphStore, reference: str, trace: str | None, lead: Lead = Lead.NEAREST, *, in_words: bool = True
) -> Variable:
    """The variable with this id or name, if given in the trace with that id or name."""
    return await find(store, Variable, reference, await find_trace_id(store, trace), lead, in_words=in_words)


async def _other(store: GraphStore, reference: str) -> Element | None:
    """The element with this id, of any kind; None if no element or several elements have the id."""
    try:
        return await store.resolve(reference)
    except (NotFoundError, AmbiguousError):
        return None


async def _newest_version(store: GraphStore, name: str, trace_id: str | None) -> Variable | None:
    """The newest version of what has this name; None if several things have the name."""
    named = await store.named(name, None, trace_id, _MOST_VERSIONS)
    if not named or len(named) == _MOST_VERSIONS:
        return None
    versions = await store.versions(named[0].id)
    if {one.id for one in named} - {one.id for one in versions} or versions[-1].version in {
        one.version for one in versions[:-1]
    }:
        return None
    note(f"{name} has {len(versions):,} versions; meant is the newest: {short(versions[-1].id)}.")
    return versions[-1]


async def find_in_words(store: GraphStore, text: str, trace_id: str | None) -> Variable:
    """The only memory unit with all these words, in its newest version; without such units, the only variable.

    Raises:
        NotFoundError: no unit has the words, and not just one variable.
        AmbiguousError: several units have the words.
    """
    is_said = _IN_WORDS.fullmatch(text) is not None
    hits = [hit.variable for hit in await store.search(text, trace_id, _MOST_QUESTIONS)] if is_said else []
    units = [one for one in hits if one.kind is VariableKind.MEMORY_UNIT]
    newest_of: dict[tuple[str, str], Variable] = {}
    for one in sorted(units or hits, key=lambda one: one.version):
        newest_of[one.trace_id, one.name] = one
    found = list(newest_of.values())
    return cast(Variable, only_one(found if units or len(found) == 1 else [], text, Label.VARIABLE))


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
        return await find(store, Variable, reference, trace_id, in_words=False)
    except OtherKindError:
        raise
    except NotFoundError:
        if named := await operations_named(store, reference, trace_id):
            return only_one(named, reference, Label.OPERATION)  # type: ignore[return-value]
        raise NotFoundError(reference, "variable, operation or failure") from None


async def find_failure(
    store: GraphStore,
    reference: str,
    trace_id: str | None = None,
    lead: Lead = Lead.NEAREST,
    *,
    in_words: bool = True,
) -> Failure:
    """The failure with this id; else the failure of the answer, or of the question, with this id or name.

    ``last`` means the failure that was recorded last. Words mean the only wrong answer whose question has them all. An
    operation means the failure of the answer that it made, and a trace its newest failure.

    Raises:
        NotFoundError: no failure, answer or question matches.
        AmbiguousError: several failures match.
        InputError: the answer or the question exists, but no failure has it.
    """
    try:
        return await by_id_or_name(store, Failure, reference, trace_id)
    except NotFoundError:
        pass
    try:
        named = await by_id_or_name(store, Variable, reference, trace_id)
    except AmbiguousError:
        versions = await store.named(reference, None, trace_id, _MOST_VERSIONS)
        if versions and all(one.kind is VariableKind.MEMORY_UNIT for one in versions):
            raise _not_wrong(versions[-1]) from None
        raise
    except NotFoundError:
        return await _failure_led_to(store, reference, trace_id, lead, in_words)
    failures = await every_failure(store, named.trace_id)
    matching = [one for one in failures if named.id in {one.answer_id, one.question_id}]
    if len(matching) > 1:
        raise ambiguous(reference, matching)
    if matching:
        return matching[0]
    raise _not_wrong(named)


async def _failure_led_to(
    store: GraphStore, reference: str, trace_id: str | None, lead: Lead, in_words: bool
) -> Failure:
    """The failure that a reference means which is no failure, answer or question; see ``find_failure``."""
    if reference.casefold() in LAST and (last := await newest(store, Failure, trace_id)):
        return cast(Failure, last)
    if other := await _other(store, reference):
        return await meant(store, other, Failure, lead, reference)
    if in_words and (asked := await _failures_in_words(store, reference, trace_id)):
        if len(asked) > 1:
            raise ambiguous(reference, asked) from None
        return asked[0]
    if in_words and (given := await _failures_by_answer(store, reference, trace_id)):
        if len(given) > 1:
            raise ambiguous(reference, given) from None
        return given[0]
    if in_words and (asked_right := await questions_in_words(store, reference, trace_id)):
        raise _not_wrong(asked_right[0]) from None
    raise NotFoundError(reference, "failure or answer") from None


def _not_wrong(named: Variable) -> InputError:
    if named.kind is VariableKind.ANSWER:
        id_ = short(named.id)
        problem = (
            f'it is not marked as wrong. If it is, say: memtrace fail {id_} "the right answer". '
            f"What it came from: memtrace closure {id_}"
        )
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


async def _failures_by_answer(store: GraphStore, text: str, trace_id: str | None) -> list[Failure]:
    """The failures whose answer has these words.

    Raises:
        InputError: answers have the words, and none of them is marked as wrong.
    """
    answers = await answers_in_words(store, text, trace_id)
    traces = dict.fromkeys(one.trace_id for one in answers)
    ids = {one.id for one in answers}
    found = [one for id_ in traces for one in await every_failure(store, id_) if one.answer_id in ids]
    if answers and not found:
        raise _not_wrong(answers[-1])
    return found


async def find_failures(store: GraphStore, references: Sequence[str]) -> list[Failure]:
    """The failures that each reference means: one failure, or all of a trace; else the words of one question.

    Raises:
        NotFoundError: no failure, answer, question or trace matches.
        AmbiguousError: several elements match.
        InputError: the answer or the question exists, but no failure has it.
    """
    if len(references) == 1:
        return await failures_meant(store, references[0])
    if asked := await _failures_in_words(store, " ".join(references), None):
        return asked
    return [failure for reference in references for failure in await failures_meant(store, reference, in_words=False)]


async def failures_meant(store: GraphStore, reference: str, *, in_words: bool = True) -> list[Failure]:
    """The failure that a reference means, or all failures of a trace; see ``find_failures``."""
    try:
        trace = await find(store, Trace, reference, lead=Lead.NOT)
        if reference.casefold() not in LAST:
            return await every_failure(store, trace.id)
    except NotFoundError:
        pass
    try:
        return [await find_failure(store, reference, lead=Lead.SURE, in_words=in_words)]
    except OtherKindError:
        raise
    except NotFoundError:
        raise NotFoundError(reference, "failure, answer or trace") from None
    except AmbiguousError:
        if several := await _failures_in_words(store, reference, None):
            return several
        raise


async def find_anything(store: GraphStore, reference: str) -> Element:
    """The element with this id; else the variable, the trace or the operation with this name, or with these words.

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
        return await find_variable(store, reference, None, in_words=False)
    except NotFoundError:
        pass
    try:
        return await by_id_or_name(store, Trace, reference, None)
    except NotFoundError:
        pass
    if named := await operations_named(store, reference, None):
        return only_one(named, reference, None)
    try:
        return await find_in_words(store, reference, None)
    except NotFoundError:
        raise NotFoundError(reference) from None
