"""The structure of one trace in memory, for walks over most of the trace. Values are read on demand."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from sys import getsizeof

from attribution.trace.reach import Reach
from attribution.trace.told import Told, told_of
from attribution.trace.versions import compared
from ingest.events.elements import CONSIDERED, RETURNED
from schema.errors import CorruptValueError
from schema.kinds import EARLIER, DerivationKind, OperationKind, VariableKind
from schema.models import Operation, Variable
from store.contract.answers import Edge
from store.contract.protocol import GraphStore
from store.runtime.garbage_collector import collector_paused
from store.shared.paging import elements

_TEXT_BYTES = 24 << 20
"""The maximal size of the cached texts of a trace; the least recently used go first."""

_TAKES_IN = frozenset({OperationKind.EXTRACTION, OperationKind.UPDATE, OperationKind.SEGMENTATION})
"""Kinds of operations by which a memory takes messages in."""

_MANY, _LARGE = 8, 8_000
"""Units with more versions than this, of more bytes on average, are compared version by version (``left_out``)."""


_RATED = frozenset({CONSIDERED, RETURNED})
"""The roles of the units among which a search chose."""
_SPOKEN = frozenset({VariableKind.RESPONSE, VariableKind.ANSWER})


class TraceGraph:
    """Variables, operations and derivations of a trace, in the order of the trace."""

    def __init__(
        self,
        store: GraphStore,
        trace_id: str,
        variables: Sequence[Variable],
        operations: Sequence[Operation],
        derivations: Sequence[Edge],
        used: Mapping[str, list[str]],
        invalidated: Mapping[str, str],
        shown: Collection[tuple[str, str]] = (),
        rated: Mapping[str, list[str]] | None = None,
    ) -> None:
        self.store = store
        self.trace_id = trace_id
        self.variables = {variable.id: variable for variable in variables}
        self.operations = {operation.id: operation for operation in operations}
        self._used = used
        self._invalidated = invalidated
        self._shown = shown
        self._rated = rated or {}
        self._parents: dict[str, list[Edge]] = defaultdict(list)
        self._children: dict[str, list[Edge]] = defaultdict(list)
        for derivation in derivations:
            self._parents[derivation.target].append(derivation)
            self._children[derivation.source].append(derivation)
        # Importers record a read as an occurrence; recorders mark a read only by the kind of its derivation.
        self._read = {derivation.target for derivation in derivations if derivation.kind is DerivationKind.READ}
        self._made: dict[str, list[str]] = defaultdict(list)
        self._versions: dict[str, list[str]] = {}
        for variable in variables:
            if variable.operation_id is not None:
                self._made[variable.operation_id].append(variable.id)
            if self.is_recorded(variable.id):
                # Different units may share a name: only ``revision_of`` says what is a version of what.
                before = self.variables.get(variable.revision_of or "")
                versions = [] if before is None else self._versions.get(before.external_id, [])
                versions.append(variable.id)
                self._versions[variable.external_id] = versions
        self._lineages = list({versions[0]: versions for versions in self._versions.values()}.values())
        self._lineage_of = {one: number for number, versions in enumerate(self._lineages) for one in versions}
        sources = {one: list({d.source for d in some}) for one, some in self._parents.items()}
        targets = {one: list({d.target for d in some}) for one, some in self._children.items()}
        self._past = Reach(sources, [versions[::-1] for versions in self._lineages])
        self._future = Reach(targets, self._lineages)
        self._users: dict[str, list[str]] = defaultdict(list)
        for operation_id, variable_ids in used.items():
            for variable_id in variable_ids:
                self._users[variable_id].append(operation_id)
        self._left_out: dict[str, tuple[str, str | None]] = {}
        self._compared: set[int] = set()
        self._comparing = asyncio.Lock()
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._text_bytes = 0

    @classmethod
    async def load(cls, store: GraphStore, trace_id: str) -> TraceGraph:
        """Read the structure of a trace."""
        # At once: one result is unpacked while the server works on the others.
        variables, derivations, operations, usages, invalidations = await asyncio.gather(
            elements(store, Variable, trace_id),
            store.edges(trace_id),
            elements(store, Operation, trace_id),
            store.usages(trace_id),
            store.invalidations(trace_id),
        )
        with collector_paused():  # nothing of a graph is garbage
            used: dict[str, list[str]] = defaultdict(list)
            for usage in usages:
                used[usage.operation_id].append(usage.variable_id)
            ended = {one.variable_id: one.operation_id for one in invalidations}
            role = f"{EARLIER} "
            shown = {(one.operation_id, one.variable_id) for one in usages if (one.role or "").startswith(role)}
            rated: dict[str, list[str]] = defaultdict(list)
            for usage in usages:
                if usage.role in _RATED:
                    rated[usage.operation_id].append(usage.variable_id)
            return cls(store, trace_id, variables, operations, derivations, used, ended, shown, rated)

    def told(self, variable_id: str) -> Told:
        """Who said a message, and when, by its attributes; the time of the recording if the attributes have none."""
        return told_of(self.variables[variable_id])

    def reply(self, answer_id: str) -> Variable:
        """The variable that a model or program made as an answer: steps that only hand it out are left out."""
        current = self.variables[answer_id]
        seen = {answer_id}
        while current.operation_id is not None:
            if self.operations[current.operation_id].kind is OperationKind.GENERATION:
                break
            sources = [self.variables[one.source] for one in self.parents(current.id)]
            same = [one for one in sources if one.kind in _SPOKEN and one.value_hash == current.value_hash]
            if len(same) != 1 or same[0].id in seen or same[0].operation_id is None:
                break
            current = same[0]
            seen.add(current.id)
        return current

    def parents(self, variable_id: str) -> list[Edge]:
        """The derivations that made a variable."""
        return self._parents.get(variable_id, [])

    def children(self, variable_id: str) -> list[Edge]:
        """The derivations from a variable."""
        return self._children.get(variable_id, [])

    def used(self, operation_id: str) -> list[str]:
        """The variables that an operation used, without those that the operation made itself."""
        return self._used.get(operation_id, [])

    def rated(self, operation_id: str) -> list[str]:
        """The units among which a search chose, if they are recorded."""
        return self._rated.get(operation_id, [])

    def made(self, operation_id: str) -> list[str]:
        """The variables that an operation made."""
        return self._made.get(operation_id, [])

    def users(self, variable_id: str) -> list[str]:
        """The operations that used a variable and did not make it themselves, in order."""
        return self._users.get(variable_id, [])

    def readers(self, variable_id: str) -> list[str]:
        """The operations that were meant to process a variable, in order.

        Without operations that only got the variable as earlier context. An operation that only made a prompt from the
        variable is replaced by the operations that read the prompt, if there are any.
        """
        found: dict[str, None] = {}
        waiting, seen = [variable_id], {variable_id}
        while waiting:
            one = waiting.pop(0)
            for operation_id in self.users(one):
                if (operation_id, one) in self._shown:
                    continue
                made = self.made(operation_id)
                prompts = [v for v in made if self.variables[v].kind is VariableKind.PROMPT and self.users(v)]
                if prompts and len(prompts) == len(made):
                    waiting += [v for v in prompts if v not in seen]
                    seen.update(prompts)
                else:
                    found[operation_id] = None
        return sorted(found, key=lambda operation_id: self.operations[operation_id].sequence)

    def invalidated_by(self, variable_id: str) -> str | None:
        """The operation that ended the life of a variable; None if the variable is still valid."""
        return self._invalidated.get(variable_id)

    def versions(self, variable_id: str) -> list[str]:
        """All recorded versions of a variable's unit, oldest first."""
        return self._versions.get(self.variables[variable_id].external_id, [])

    def lineages(self, variable_ids: Iterable[str]) -> list[list[str]]:
        """The recorded versions of each unit that any of the variables is a version of, oldest first."""
        numbers = set(map(self._lineage_of.__getitem__, self._lineage_of.keys() & variable_ids))
        return [self._lineages[number] for number in sorted(numbers)]

    def is_recorded(self, variable_id: str) -> bool:
        """Whether a variable was newly made: no read and no repetition of another variable."""
        return self.variables[variable_id].occurrence == 0 and variable_id not in self._read

    def is_message(self, variable_id: str) -> bool:
        """Whether a variable is a message, or a question that the memory took in as a turn of a conversation."""
        kind = self.variables[variable_id].kind
        if kind is not VariableKind.QUERY:
            return kind is VariableKind.MESSAGE
        return any(self.operations[one].kind in _TAKES_IN for one in self.users(variable_id))

    def place(self, variable_id: str) -> int:
        """The sequence of the operation that made a variable; -1 for a variable from outside."""
        maker = self.variables[variable_id].operation_id
        return -1 if maker is None else self.operations[maker].sequence

    def past(self, variable_ids: Iterable[str]) -> frozenset[str]:
        """The backward closure of some variables, themselves included."""
        return self._past.of(variable_ids)

    def future(self, variable_ids: Iterable[str]) -> frozenset[str]:
        """The forward closure of some variables, themselves included."""
        return self._future.of(variable_ids)

    def recorded(self, variable_id: str) -> str:
        """The variable that a read was read from; the variable itself if it is no read."""
        current = variable_id
        while True:
            read = [d.source for d in self.parents(current) if d.kind is DerivationKind.READ]
            if not read:
                return current
            current = read[0]

    def path(self, source: str, target: str, inside: Collection[str] | None = None) -> list[Edge]:
        """A shortest chain of derivations from ``source`` to ``target``; empty without a chain."""
        if source == target:
            return []
        via: dict[str, Edge] = {}
        level = [source]
        while level and target not in via:
            following = []
            for current in level:
                for derivation in self.children(current):
                    after = derivation.target
                    if after not in via and after != source and (inside is None or after in inside):
                        via[after] = derivation
                        following.append(after)
            level = following
        chain: list[Edge] = []
        current = target
        while current in via:
            chain.append(via[current])
            current = via[current].source
        return chain[::-1]

    async def left_out(self, variable_id: str, following: str) -> str | None:
        """The text that the next version dropped from a variable, with the text around; empty if nothing was dropped.

        None if unknown: for units with few or small versions, if ``following`` is not the next version, if a value is
        gone, or if too much was dropped.
        """
        number = self._lineage_of.get(variable_id)
        if number is None or number != self._lineage_of.get(following):
            return None
        if number not in self._compared:
            async with self._comparing:
                if number not in self._compared:
                    await self._compare(number)
        next_one, text = self._left_out.get(variable_id, ("", None))
        return text if next_one == following else None

    async def _compare(self, number: int) -> None:
        """Compare each version of a lineage with the next one, if the lineage has many large versions."""
        lineage = self._lineages[number]
        versions = [self.variables[one] for one in lineage]
        if len(versions) > _MANY and sum(one.size for one in versions) > _LARGE * len(versions):
            # A damaged value raises an error when it is read; here only the comparison stays unknown.
            with suppress(CorruptValueError):
                found = await compared(self.store, versions)
                steps = zip(pairwise(lineage), found, strict=True)
                self._left_out |= {one: (following, text) for (one, following), text in steps}
        self._compared.add(number)

    async def has_all_of(self, variable_id: str, before: str) -> bool:
        """Whether a variable is known to be the next version of ``before`` and to contain all of the text."""
        return await self.left_out(before, variable_id) == ""

    def current_version(self, versions: Sequence[str], place: int) -> str | None:
        """The version that was valid just before a place in the order of operations; None if none was.

        Args:
            versions: of one unit, oldest first.
            place: a sequence of an operation.
        """
        number = bisect_left(versions, place, key=self.place)
        if number == 0:
            return None
        version = versions[number - 1]
        ended = self._invalidated.get(version)
        if ended is not None and self.operations[ended].sequence < place:
            return None
        return version

    async def texts(self, variable_ids: Iterable[str]) -> dict[str, str]:
        """Whole values as text, by variable."""
        found: dict[str, str] = {}
        missing: dict[str, Variable] = {}
        for variable_id in dict.fromkeys(variable_ids):
            variable = self.variables[variable_id]
            if variable.value is not None:
                found[variable_id] = variable.value
            elif variable.value_hash in self._texts:
                self._texts.move_to_end(variable.value_hash)
                found[variable_id] = self._texts[variable.value_hash]
            else:
                missing[variable_id] = variable
        if missing:
            values = await self.store.values(list(missing.values()))
            texts = {value_hash: data.decode("utf-8", "replace") for value_hash, data in values.items()}
            for variable_id, variable in missing.items():
                found[variable_id] = texts[variable.value_hash]
            for value_hash, text in texts.items():
                self._keep(value_hash, text)
        return found

    async def text(self, variable_id: str) -> str:
        """A whole value as text."""
        return (await self.texts([variable_id]))[variable_id]

    def _keep(self, value_hash: str, text: str) -> None:
        if value_hash in self._texts:
            return
        self._texts[value_hash] = text
        self._text_bytes += getsizeof(text)
        while self._text_bytes > _TEXT_BYTES:
            _, dropped = self._texts.popitem(last=False)
            self._text_bytes -= getsizeof(dropped)
