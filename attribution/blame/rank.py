"""Blame across failures: the operations, prompts, memory units and sessions that did most harm, the worst first.

Each failure whose verdict names an error of the memory is a failed run, each answer that was judged right a passed one,
and elements are ranked by Ochiai's coefficient, as spectrum-based fault localisation ranks the parts of a program
(R. Abreu, P. Zoeteweij, A. J. C. van Gemund: "An Evaluation of Similarity Coefficients for Software Fault
Localization", PRDC 2006, doi:10.1109/PRDC.2006.18, and "On the Accuracy of Spectrum-based Fault Localization",
TAICPART-MUTATION 2007). For an element e:

        failed(e)  the sum of the confidence of the verdicts that blame e
    passed(e)  the number of right answers (``Variable.right``) with e in their backward closure
    score(e)   failed(e) / sqrt(total * (failed(e) + passed(e))), where total is the confidence of all these verdicts

Each failure blames an element at most once:

    operation  the decisive operation, and each operation that lost a piece of what the answer needed
    name       the names of those operations; all operations of one name are one, whatever their trace
    prompt     the prompts that those operations used and did not make themselves; prompts of equal text are one
    unit       the version of a memory unit or buffer where the needed detail ends: the last one on a path that proves
               the verdict or a piece's loss. A read counts for the version that was read. Units that a search returned
               instead of the right one are not blamed. A verdict without a path, such as a person's, blames no unit
    session    the sessions of those operations

Each failure has one verdict (``attribution.verdicts.stored.word_on``). A verdict without a confidence, such as a
person's, counts 1. Abstentions, AnnotationError and LLMAsAJudgeError blame nothing and are not part of the total.
Elements without blame are not listed. A closure contains an operation if one of the closure's derivations is by the
operation, and a session if it contains one of the session's operations.

Results are not stored and not sampled: all right answers of all traces are counted, with one pass over the derivations
of a trace for each ``_ANSWERS`` right answers. One trace is in memory at a time: its derivations, and one bit per
answer for each variable at the front of the walk.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, sqrt

import msgspec

from attribution.blame.model import Blamed, By
from attribution.text.said import said
from attribution.trace.dependent_answers import Links, Members
from attribution.verdicts.naming import given_name, operation_label, session_label, variable_label
from attribution.verdicts.stored import by_id, word_on
from schema.damage import reading_stored
from schema.kinds import NOT_THE_MEMORY, STORED, DerivationKind, VariableKind
from schema.models import Attribution, Derivation, Operation, Session, Variable
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.shared.paging import elements, every, in_trace

_ANSWERS = 8192
_PAGE = 1000
_DETAILS = 100
_READS = 1000


_Key = tuple[By, str]
"""An element by its id; a prompt by the hash of its value; operations of one name by the name."""
_Way = list[tuple[str, bool]]
"""The variables of a path, each with whether it holds the needed detail."""


@dataclass(frozen=True, slots=True)
class _Charges:
    """What verdicts blame.

    Attributes:
        weights: for each element, the weights of the verdicts that blame the element.
        named: for each element, the id, name and trace to show.
        total: the weight of all verdicts that blame anything.
    """

    weights: dict[_Key, list[float]]
    named: dict[_Key, tuple[str, str, str]]
    total: float


async def chosen_verdicts(store: GraphStore, trace_id: str | None = None) -> list[Attribution]:
    """The verdict that counts for each failure of one trace or of the project."""
    found: list[Attribution] = []
    after: str | None = None
    while True:
        page = await store.failures(trace_id, _PAGE, after)
        found += word_on(await store.attributions([one.id for one in page.items]), page.items).values()
        after = page.next
        if after is None:
            return found


async def blame(
    store: GraphStore, verdicts: Iterable[Attribution], by: Collection[By], trace_ids: Collection[str] | None = None
) -> dict[By, list[Blamed]]:
    """Ranks the elements that some verdicts blame, the worst first; see the module.

    Args:
        store: holds the traces.
        verdicts: at most one for each failure, as ``chosen_verdicts`` returns.
        by: the kinds of elements to rank.
        trace_ids: the traces of the failures and of the right answers to count; None for all traces of the project.
    """
    blaming = [one for one in verdicts if one.error_type is not None and one.error_type not in NOT_THE_MEMORY]
    charges = await _charges(store, blaming, by)
    passed: dict[_Key, int] = defaultdict(int)
    for trace in await _traces(store, blaming, by, trace_ids):
        for key, count in (await _passed(store, trace, charges.weights, by)).items():
            passed[key] += count
    ranked: dict[By, list[Blamed]] = {one: [] for one in by}
    for key, weights in charges.weights.items():
        failed = fsum(weights)
        score = failed / sqrt(charges.total * (failed + passed[key])) if failed else 0.0
        ranked[key[0]].append(Blamed(*charges.named[key], round(failed, 4), passed[key], round(score, 4)))
    return {
        one: sorted(some, key=lambda each: (-each.score, -each.failed, each.name, each.id))
        for one, some in ranked.items()
    }


def _weight(verdict: Attribution) -> float:
    return 1.0 if verdict.confidence is None else verdict.confidence


def _accused(verdict: Attribution) -> tuple[set[str], list[_Way]]:
    """The operations that a verdict blames, and the paths that prove the verdict."""
    with reading_stored(f"verdict {verdict.id}"):
        losses = [
            one
            for one in msgspec.json.decode(verdict.attributes).get("losses", ())
            if one.get("errorType") is not None and one["errorType"] not in NOT_THE_MEMORY
        ]
        operations = {verdict.operation_id, *(one.get("operationId") for one in losses)}
        paths = [msgspec.json.decode(verdict.evidence), *(one.get("path", ()) for one in losses)]
        ways = [
            [(step["variableId"], bool(step.get("holds"))) for step in path if "variableId" in step] for path in paths
        ]
        return {id_ for id_ in operations if id_}, ways


async def _charges(store: GraphStore, blaming: Sequence[Attribution], by: Collection[By]) -> _Charges:
    accused = [(_weight(verdict), *_accused(verdict)) for verdict in blaming]
    operations = await by_id(store, Operation, (id_ for _, some, _ in accused for id_ in sorted(some)))
    weights: dict[_Key, list[float]] = defaultdict(list)
    named: dict[_Key, tuple[str, str, str]] = {}
    sessions = await by_id(store, Session, (one.session_id for one in operations.values()))
    prompts = await _prompts(store, list(operations)) if By.PROMPT in by else {}
    on_ways = {id_ for _, _, ways in accused for way in ways for id_, _ in way}
    units = await _units(store, sorted(on_ways)) if By.UNIT in by else {}
    for weight, some, ways in accused:
        keys: dict[_Key, tuple[str, str, str]] = {}
        for operation in (operations[id_] for id_ in sorted(some) if id_ in operations):
            keys[By.OPERATION, operation.id] = operation.id, operation_label(operation), operation.trace_id
            label = operation_label(operation)
            keys[By.NAME, label] = named.get((By.NAME, label), (operation.id, label, operation.trace_id))
            session = sessions.get(operation.session_id or "")
            if session is not None:
                keys[By.SESSION, session.id] = session.id, session_label(session), session.trace_id
            for prompt in prompts.get(operation.id, ()):
                keys[By.PROMPT, prompt.value_hash] = prompt.id, _prompt_name(prompt), prompt.trace_id
        for way in ways:
            # A read without the detail was returned instead of the unit that has the detail.
            on_way = [units[id_] for id_, holds in way if id_ in units and (holds or units[id_].id == id_)]
            for unit in on_way[-1:]:
                keys[By.UNIT, unit.id] = unit.id, said(unit.preview) or variable_label(unit), unit.trace_id
        for key, shown in keys.items():
            if key[0] in by:
                weights[key].append(weight)
                named[key] = shown
    return _Charges(weights, named, fsum(weight for weight, _, _ in accused))


def _prompt_name(prompt: Variable) -> str:
    return given_name(prompt) or said(prompt.preview) or prompt.kind.value


async def _prompts(store: GraphStore, operation_ids: Sequence[str]) -> dict[str, list[Variable]]:
    """The prompts that each operation used; prompts of equal text are represented by the first."""
    used: dict[str, list[Variable]] = {}
    for start in range(0, len(operation_ids), _DETAILS):
        for id_, detail in (await store.operations(operation_ids[start : start + _DETAILS])).items():
            used[id_] = [variable for variable in detail.used if variable.kind is VariableKind.PROMPT]
    first: dict[str, Variable] = {}
    for prompt in sorted((one for some in used.values() for one in some), key=lambda one: (one.sequence, one.id)):
        first.setdefault(prompt.value_hash, prompt)
    return {id_: [first[prompt.value_hash] for prompt in some] for id_, some in used.items()}


async def _units(store: GraphStore, variable_ids: Sequence[str]) -> dict[str, Variable]:
    """The memory units among some variables; a read is replaced by the version that was read."""
    meant = {id_: one for id_, one in (await by_id(store, Variable, variable_ids)).items() if one.kind in STORED}
    while True:
        read: dict[str, str] = {}
        ids = sorted({unit.id for unit in meant.values()})
        for start in range(0, len(ids), _READS):
            found = await store.derivations_of(ids[start : start + _READS])
            read |= {id_: one.source for id_, some in found.items() for one in some if one.kind is DerivationKind.READ}
        sources = await by_id(store, Variable, sorted(read.values()))
        if not sources:
            return meant
        meant = {id_: sources[read[unit.id]] if unit.id in read else unit for id_, unit in meant.items()}


async def _traces(
    store: GraphStore, blaming: Sequence[Attribution], by: Collection[By], trace_ids: Collection[str] | None
) -> list[str]:
    """The traces whose right answers may depend on a blamed element.

    A prompt and the name of an operation may occur in traces without failures.
    """
    if not {By.PROMPT, By.NAME} & set(by) or not blaming:
        return sorted({verdict.trace_id for verdict in blaming})
    if trace_ids is not None:
        return sorted(set(trace_ids))
    return [trace.id async for trace in every(lambda after: store.traces(after=after))]


async def _passed(
    store: GraphStore, trace_id: str, ranked: Mapping[_Key, object], by: Collection[By]
) -> dict[_Key, int]:
    """The number of right answers of a trace that depend on each element."""
    answers = [
        one.id for one in await elements(store, Variable, trace_id, [VariableKind.ANSWER.value]) if one.right is True
    ]
    if not answers:
        return {}
    members = await _members(store, trace_id, ranked, by)
    links = Links()
    async for one in in_trace(store, Label.DERIVATION, trace_id):
        if isinstance(one, Derivation):
            links.add(one)
    counts: dict[_Key, int] = defaultdict(int)
    for start in range(0, len(answers), _ANSWERS):
        found = await asyncio.to_thread(links.resting, answers[start : start + _ANSWERS], members)
        for key, bits in found.items():
            counts[key] += bits.bit_count()
    return counts


async def _members(
    store: GraphStore, trace_id: str, ranked: Mapping[_Key, object], by: Collection[By]
) -> Members[_Key]:
    found: Members[_Key] = Members()
    for key in ranked:
        if key[0] is By.OPERATION:
            found.operations[key[1]].append(key)
        elif key[0] is By.UNIT:
            found.variables[key[1]].append(key)
    if By.SESSION in by or By.NAME in by:
        for operation in await elements(store, Operation, trace_id):
            for key in ((By.SESSION, operation.session_id or ""), (By.NAME, operation_label(operation))):
                if key in ranked:
                    found.operations[operation.id].append(key)
    if By.PROMPT in by:
        for prompt in await elements(store, Variable, trace_id, [VariableKind.PROMPT.value]):
            if (key := (By.PROMPT, prompt.value_hash)) in ranked:
                found.variables[prompt.id].append(key)
    return found
