"""Finds the wrong answer that a user means, or lets the user choose among the last answers."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Sequence
from typing import cast

import typer

from api.cli.answers_by_text import answers_in_words
from api.cli.errors import UsageError
from api.cli.find import by_id_or_name, find, find_trace_id, find_variable
from api.cli.meant import Lead, OtherKindError
from api.cli.next_steps import NO_ANSWER
from api.cli.output import Output
from api.cli.render.text import name_of, short, text_on_line
from ingest.events.questions import questions_of, without_rephrased
from schema.errors import NotFoundError
from schema.kinds import VariableKind
from schema.models import Failure, Variable
from schema.readable import readable
from schema.words import words
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.shared.paging import every, in_trace
from store.shared.resolving import only_one

_LISTED = 10
_MOST_QUESTIONS = 5
_WIDTH = 70
_FEWEST_WORDS = 2
_MOST_HITS, _MOST_TRACES = 50, 5
"""The most texts, and the most traces, in which the words of a question are looked for."""


async def _answer_meant(store: GraphStore, reference: str, trace_id: str | None) -> Variable:
    """The variable with this id or name; else the answer, or the question, with exactly these words.

    Words that only one answer has mean this answer, too.

    Raises:
        NotFoundError: nothing matches.
        AmbiguousError: several things match.
    """
    try:
        return await by_id_or_name(store, Variable, reference, trace_id)
    except NotFoundError:
        said = await answers_in_words(store, reference, trace_id)
    if said and words(readable(said[0].preview)) == words(reference):
        return _only(said, reference)
    try:
        return await find(store, Variable, reference, trace_id, Lead.SURE)
    except OtherKindError:
        raise
    except NotFoundError:
        return _only(said, reference) if said else await _answer_around(store, reference, trace_id)


async def wrong_answer(store: GraphStore, reference: str, trace: str | None) -> Variable:
    """The answer with this id, name or text; a question or a failure stands for its answer.

    Raises:
        NotFoundError: nothing has the id or name.
        UsageError: the question has no answer, or several.
    """
    try:
        failure = await store.resolve(reference, Label.FAILURE, await find_trace_id(store, trace))
    except NotFoundError:
        try:
            found = await _answer_meant(store, reference, await find_trace_id(store, trace))
        except OtherKindError:
            raise
        except NotFoundError:
            raise NotFoundError(reference, "failure or answer") from None
    else:
        assert isinstance(failure, Failure)
        if failure.answer_id is None:
            raise UsageError(f"the failure {short(failure.id)} has no answer in the graph")
        return await find_variable(store, failure.answer_id, None)
    if found.kind not in {VariableKind.QUERY, VariableKind.MESSAGE}:
        return found
    given = await _answers(store, found.trace_id)
    answers = [answer for answer, questions in given if found in questions]
    if not answers:  # the text may be recorded again, as a model's query or as a message that was added to a memory
        told = words(found.preview)
        answers = [answer for answer, questions in given if any(words(one.preview) == told for one in questions)]
    if not answers and found.kind is VariableKind.MESSAGE:
        return found  # a reply that is recorded as a message
    if len(answers) != 1:
        named = ", ".join(short(one.id) for one in answers)
        there = f"it has {len(answers)} answers: {named}" if answers else "no answer to it is recorded"
        raise UsageError(f"{short(found.id)} is a question, and {there}; name the answer")
    return answers[0]


def _only(found: Sequence[Variable], reference: str) -> Variable:
    return cast(Variable, only_one(list(found), reference, Label.VARIABLE))


async def _answer_around(store: GraphStore, text: str, trace_id: str | None) -> Variable:
    """The only answer to a question that has a text at the end of a sentence, as in a template: ``Question: {text}``.

    Raises:
        NotFoundError: no question has the text.
        UsageError: several answered questions have it, or too many traces to read them all.
    """
    told = words(text)
    hits = await store.search(text, trace_id, _MOST_HITS) if len(told) >= _FEWEST_WORDS else []
    traces = dict.fromkeys(one.variable.trace_id for one in hits)
    if len(traces) > _MOST_TRACES:
        raise UsageError(f"more than {_MOST_TRACES} traces have these words: name the trace, too: --trace TRACE")
    answers = [
        answer
        for id_ in traces
        for answer, questions in await _answers(store, id_)
        if any(_ends_a_sentence(told, one.preview) for one in questions)
    ]
    if not answers:
        raise NotFoundError(text, "failure or answer")
    if len(answers) > 1:
        named = ", ".join(short(one.id) for one in answers[:_MOST_QUESTIONS])
        raise UsageError(f"{len(answers)} answered questions have these words: name one of their answers: {named}")
    return answers[0]


def _ends_a_sentence(told: list[str], text: str) -> bool:
    """Whether a sentence of a text ends with some words: less than a whole question must not choose what is judged."""
    from attribution.text.segments import cut

    return any(words(sentence)[-len(told) :] == told for _, sentence in cut(text))


async def asked_of(store: GraphStore, answer: Variable, told: str = "") -> Variable:
    """The question to which an answer belongs according to the graph.

    Args:
        store: the project.
        answer: the answer.
        told: the question's text, if it is known: it decides between several questions.

    Raises:
        UsageError: the graph shows none, or several.
    """
    found = (await questions_of(store, [answer]))[answer.id]
    if len(found) > 1 and told:
        found = [one for one in found if words(one.preview) == words(told)] or found
    if len(found) == 1:
        return found[0]
    if not found and answer.kind is VariableKind.MESSAGE:
        raise UsageError(f"{short(answer.id)} is a message, and no answer to it is recorded; name the answer")
    shown = ", ".join(f"{short(one.id)} {name_of(one, 40)}" for one in found[:_MOST_QUESTIONS])
    reason = f"it may be one of {len(found):,}: {shown}" if found else "no query led to it"
    raise UsageError(f"the graph does not say what {short(answer.id)} answers ({reason}): name it with --question ID")


async def chosen_answer(store: GraphStore, trace: str | None) -> tuple[Variable, list[str]]:
    """Lists the last answers, and asks which one is wrong and what would be right.

    Returns:
        The answer, and the right answers that were typed.

    Raises:
        UsageError: there is no answer, or no terminal to ask at.
        typer.Abort: the user typed nothing.
    """
    only = await find_trace_id(store, trace)
    last: deque[tuple[Variable, list[Variable]]] = deque(maxlen=_LISTED)
    for id_ in [only] if only else [one.id async for one in every(lambda after: store.traces(after=after))]:
        last.extend(await _answers(store, id_))
    if not last:
        raise UsageError(NO_ANSWER)
    out = Output()
    for number, (answer, questions) in enumerate(last, 1):
        question = text_on_line(questions[0].preview, _WIDTH) if len(questions) == 1 else "?"
        out.lines(f"{number:>3}  {short(answer.id)}  {question}  →  {text_on_line(answer.preview, _WIDTH)}")
    if not sys.stdin.isatty():
        raise UsageError('name the wrong answer and what would be right: memtrace fail ID "the right answer"')
    number = typer.prompt("Which one is wrong? Its number", type=int, err=True)
    if not 1 <= number <= len(last):
        raise UsageError(f"{number} is not on the list")
    right = typer.prompt("What would be right? (empty: not known)", default="", show_default=False, err=True)
    return last[number - 1][0], [right] if right else []


async def _answers(store: GraphStore, trace_id: str) -> list[tuple[Variable, list[Variable]]]:
    """The answers of a trace, oldest first, each with the questions that it may belong to."""
    found = [
        one
        async for one in in_trace(store, Label.VARIABLE, trace_id, [VariableKind.ANSWER.value])
        if isinstance(one, Variable)
    ]
    questions = await questions_of(store, found)
    return [(one, list(questions[one.id])) for one in await without_rephrased(store, found, questions)]
