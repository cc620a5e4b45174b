"""Introspection: the cost of questions about the schema, and their answers. Each answer is computed once.

The schema does not change while a server runs, so an answer about it is kept as bytes and sent again. A separate thread
computes it: the whole schema has thousands of types and fields, and no other request must wait.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import msgspec
from graphql import (
    ExecutionResult,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLField,
    GraphQLList,
    InlineFragmentNode,
    SchemaMetaFieldDef,
    SelectionSetNode,
    StringValueNode,
    TypeMetaFieldDef,
    VariableNode,
    execute_sync,
    get_named_type,
    get_nullable_type,
    print_ast,
)

from api.graphql.chosen import ChosenOperation
from api.graphql.worker_thread import WorkerThread
from store.runtime.processor_share import ProcessorShare

ROOTS: Mapping[str, GraphQLField] = {"__schema": SchemaMetaFieldDef, "__type": TypeMetaFieldDef}
_KEPT_BYTES = 8 << 20

_Population = dict[int, tuple[Any, int]]
"""Objects of the schema by identity, each with the number of times that it is reached."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The introspection in one operation.

    Attributes:
        fields: the root fields of introspection.
        is_all: whether the operation has no other root fields.
        defaults: default values of variables.
    """

    fields: tuple[FieldNode, ...]
    is_all: bool
    defaults: Mapping[str, str]


def asked_of_schema(chosen: ChosenOperation) -> Asked:
    """The introspection in an operation."""
    roots = list(_fields(chosen.operation.selection_set, chosen.fragments, set()))
    fields = tuple(node for node in roots if node.name.value in ROOTS)
    defaults = {
        definition.variable.name.value: definition.default_value.value
        for definition in chosen.operation.variable_definitions or ()
        if isinstance(definition.default_value, StringValueNode)
    }
    return Asked(fields, all(node.name.value.startswith("__") for node in roots), defaults)


def schema_cost(chosen: ChosenOperation, asked: Asked, most: int) -> int:
    """The exact number of fields of an answer about the schema, leaves included.

    Equal objects are counted together, so that nested lists take no longer than one list.

    Args:
        chosen: the operation.
        asked: see ``asked_of_schema``.
        most: counting ends beyond this number; the result is then greater than ``most``.
    """
    counter = _Counter(chosen, asked, most)
    for node in asked.fields:
        counter.root(node)
    return counter.total


class _EnoughError(Exception):
    """More was counted than is allowed."""


class _Counter:
    def __init__(self, chosen: ChosenOperation, asked: Asked, most: int) -> None:
        self.total = 0
        self._schema = chosen.schema
        self._info = SimpleNamespace(schema=chosen.schema)
        self._fragments = chosen.fragments
        self._variables = {**asked.defaults, **chosen.variables}
        self._most = most
        self._share = ProcessorShare()

    def root(self, node: FieldNode) -> None:
        field = ROOTS[node.name.value]
        found = self._schema if node.name.value == "__schema" else self._schema.get_type(self._name(node))
        try:
            self._add(1)
            if node.selection_set is not None and found is not None:
                self._count(node.selection_set, {id(found): (found, 1)}, get_named_type(field.type))
        except _EnoughError:
            return

    def _count(self, selections: SelectionSetNode, population: _Population, of: Any) -> None:
        size = sum(times for _, times in population.values())
        for node in _fields(selections, self._fragments, None):
            self._add(size)
            field = of.fields.get(node.name.value)
            if node.selection_set is not None and field is not None:
                below = self._below(population, field)
                if below:
                    self._count(node.selection_set, below, get_named_type(field.type))

    def _below(self, population: _Population, field: GraphQLField) -> _Population:
        """All values of a field over all objects of a population."""
        arguments = {name: True for name in field.args if name == "includeDeprecated"}
        found: _Population = {}
        for thing, times in population.values():
            given = field.resolve(thing, self._info, **arguments) if field.resolve else None
            is_list = isinstance(get_nullable_type(field.type), GraphQLList)
            for one in given or () if is_list else (given,):
                if one is not None:
                    # Fields and arguments come as new pairs of a name and an object.
                    key = id(one[1] if isinstance(one, tuple) else one)
                    found[key] = (one, times + (found[key][1] if key in found else 0))
        return found

    def _add(self, count: int) -> None:
        self._share.step()
        self.total += count
        if self.total > self._most:
            raise _EnoughError

    def _name(self, node: FieldNode) -> str:
        for argument in node.arguments or ():
            if isinstance(argument.value, VariableNode):
                return str(self._variables.get(argument.value.name.value))
            if isinstance(argument.value, StringValueNode):
                return argument.value.value
        return ""


class Introspection:
    """The answers about one schema."""

    def __init__(self) -> None:
        self._thread = WorkerThread("introspection")
        self._by_text = _Kept()
        self._by_meaning = _Kept()

    def known(self, chosen: ChosenOperation) -> ExecutionResult | None:
        """The cached answer to a document; None if there is none."""
        return _result(self._by_text.get(_key(chosen.text, chosen)))

    async def cost(self, chosen: ChosenOperation, asked: Asked, most: int) -> int:
        """See ``schema_cost``."""
        return await self._thread.run(partial(schema_cost, chosen, asked, most))

    async def answer(self, chosen: ChosenOperation) -> ExecutionResult:
        """The answer to an operation that asks only about the schema. An answer without errors is cached."""
        answer = await self._thread.run(partial(self._answer, chosen))
        if isinstance(answer, ExecutionResult):
            return answer
        self._by_text.keep(_key(chosen.text, chosen), answer)
        found = _result(answer)
        assert found is not None
        return found

    def _answer(self, chosen: ChosenOperation) -> ExecutionResult | bytes:
        # Spaces, commas and comments don't matter: documents that differ only in these share an answer.
        key = _key(print_ast(chosen.document), chosen)
        answer = self._by_meaning.get(key)
        if answer is not None:
            return answer
        found = execute_sync(
            chosen.schema, chosen.document, variable_values=dict(chosen.variables), operation_name=chosen.name
        )
        if found.errors:
            return found
        answer = msgspec.json.encode(found.data)
        self._by_meaning.keep(key, answer)
        return answer


_Key = tuple[str, str | None, bytes]


class _Kept:
    """A cache of answers with a bound on its bytes; the answer that was not used for longest goes first."""

    def __init__(self) -> None:
        self._answers: OrderedDict[_Key, bytes] = OrderedDict()
        self._bytes = 0

    def get(self, key: _Key) -> bytes | None:
        found = self._answers.get(key)
        if found is not None:
            self._answers.move_to_end(key)
        return found

    def keep(self, key: _Key, answer: bytes) -> None:
        if key in self._answers:
            return
        self._answers[key] = answer
        self._bytes += _size(key, answer)
        while self._bytes > _KEPT_BYTES:
            self._bytes -= _size(*self._answers.popitem(last=False))


def _key(text: str, chosen: ChosenOperation) -> _Key:
    return text, chosen.name, msgspec.json.encode(chosen.variables, order="sorted")


def _size(key: _Key, answer: bytes) -> int:
    return len(key[0]) + len(key[2]) + len(answer)


def _result(answer: bytes | None) -> ExecutionResult | None:
    """An answer with data that are JSON already."""
    return None if answer is None else ExecutionResult(cast("dict[str, Any]", msgspec.Raw(answer)), None)


def _fields(
    selections: SelectionSetNode, fragments: Mapping[str, FragmentDefinitionNode], seen: set[str] | None
) -> Iterator[FieldNode]:
    """The fields of a selection and of its fragments; with ``seen``, each fragment once."""
    for node in selections.selections:
        if isinstance(node, FieldNode):
            yield node
        elif isinstance(node, InlineFragmentNode):
            yield from _fields(node.selection_set, fragments, seen)
        elif isinstance(node, FragmentSpreadNode) and (seen is None or node.name.value not in seen):
            if seen is not None:
                seen.add(node.name.value)
            yield from _fields(fragments[node.name.value].selection_set, fragments, seen)
