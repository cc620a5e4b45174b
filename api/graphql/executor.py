"""Running a document: lists of plain objects are read at once, unexpected errors are masked, and bytes are counted.

The lists of an answer that is sent become JSON as soon as they are complete. The answer then is encoded piece by piece
while it is built, and takes as much memory as its JSON.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from operator import attrgetter
from typing import Any

from graphql import (
    GraphQLEnumType,
    GraphQLError,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLScalarType,
    Undefined,
)
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext

from api.graphql.answer_bytes import NAME, SHORT, AnswerBytes, AnswerTooLargeError, stored_json
from api.graphql.loops import LoopThreads
from api.graphql.public_errors import public_error
from store.runtime.garbage_collector import collector_paused
from store.runtime.processor_share import ProcessorShare

_AS_IT_IS = {"String", "ID", "Int", "Boolean"}
_STORED_JSON = "JSON"


@dataclass(frozen=True, slots=True)
class _Plan:
    """How to read the selected fields of an object that has them as plain attributes.

    Attributes:
        names: names of the answer's fields.
        read: returns the values of all fields.
        formats: functions from a value to its JSON; None if the value is its own JSON.
        required: for each field, whether it must not be null.
    """

    names: tuple[str, ...]
    read: Callable[[Any], tuple[Any, ...]]
    formats: tuple[Callable[[Any], Any] | None, ...]
    required: tuple[bool, ...]

    def all(self, items: Sequence[Any]) -> list[dict[str, Any]] | None:
        """The answers for all objects, column by column; None if an object is not plain."""
        columns: list[Sequence[Any]] = list(zip(*map(self.read, items), strict=True))
        for number, (format_, required) in enumerate(zip(self.formats, self.required, strict=True)):
            has_nulls = None in columns[number]
            if has_nulls and required:
                return None
            if format_ is not None:
                columns[number] = [None if value is None else format_(value) for value in columns[number]]
        names = self.names
        return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


class Executor(StrawberryGraphQLCoreExecutionContext):
    """Runs one document.

    A lineage has thousands of nodes and edges, and clients mostly ask for their plain attributes. Resolving each
    attribute by itself took ten times as long as reading the elements from the store; a plan takes a fraction of that.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._share: ProcessorShare | None = None
        self._answer = AnswerBytes(self.context_value.most_answer_bytes)
        self._is_sent: bool = self.context_value.is_sent
        self._plans: dict[tuple[str, int], tuple[Any, _Plan | None]] = {}

    def build_per_event_executor(self, payload: Any) -> Any:
        """A copy for one event of a subscription; each event's answer has its own bound."""
        executor: Any = super().build_per_event_executor(payload)
        executor._answer = AnswerBytes(self.context_value.most_answer_bytes)
        return executor

    def execute_operation(self, serially: bool | None = None) -> Any:
        """Run the operation; a large one on a loop beside the server's."""
        run = super().execute_operation
        if not self.context_value.is_large:
            return run(serially)

        async def whole() -> Any:
            self._share = ProcessorShare()
            result = run(serially)
            return await result if self.is_awaitable(result) else result

        return _threads().run(whole)

    def execute_field(
        self, parent_type: Any, source: Any, field_details_list: Any, path: Any, position_context: Any
    ) -> Any:
        """Resolve a field, and begin to complete it."""
        if self._share is not None:
            self._share.step()
        answer = self._answer
        answer.count += len(path.key) + NAME
        if answer.count > answer.most:
            answer.check()
        return super().execute_field(parent_type, source, field_details_list, path, position_context)

    def complete_leaf_value(self, return_type: Any, result: Any) -> Any:  # type: ignore[override]  # it counts
        """Complete a leaf, and count its bytes."""
        if self._is_sent and return_type.name == _STORED_JSON:
            completed: Any = stored_json(result)
        else:
            completed = return_type.coerce_output_value(result)
            if completed is None or completed is Undefined:
                return super().complete_leaf_value(return_type, result)  # says what is wrong
            if type(completed) is str and len(completed) <= SHORT:
                self._answer.count += len(completed)
                return completed
        self._answer.add(completed)
        return completed

    def complete_iterable_value(
        self, item_type: Any, field_details_list: Any, info: Any, path: Any, items: Any, position_context: Any
    ) -> Any:
        """Complete a list: with a plan if its items are plain objects."""
        if isinstance(items, list) and items:
            of = item_type.of_type if isinstance(item_type, GraphQLNonNull) else item_type
            plan = self._plan(of, field_details_list) if isinstance(of, GraphQLObjectType) else None
            if plan is not None:
                try:
                    with collector_paused():
                        rows = plan.all(items)
                except (AttributeError, TypeError, ValueError, GraphQLError):
                    rows = None
                if rows is not None:
                    encoded = self._answer.add_rows(rows)
                    return encoded if self._is_sent else rows
        found = super().complete_iterable_value(item_type, field_details_list, info, path, items, position_context)
        if not self._is_sent:
            return found
        return self._as_json_later(found) if self.is_awaitable(found) else self._answer.as_json(found)

    def handle_field_error(self, raw_error: Exception, return_type: Any, field_details_list: Any, path: Any) -> None:
        """Mask an unexpected error. An answer that is too large ends the whole operation."""
        if isinstance(raw_error, AnswerTooLargeError):
            raise raw_error
        self._answer.add_error()
        super().handle_field_error(public_error(raw_error), return_type, field_details_list, path)

    async def _as_json_later(self, found: Awaitable[Any]) -> Any:
        return self._answer.as_json(await found)

    def _plan(self, of: GraphQLObjectType, field_details_list: Any) -> _Plan | None:
        key = (of.name, id(field_details_list))
        if key not in self._plans:
            # Keeping the list keeps Python from reusing its id.
            self._plans[key] = (field_details_list, self._make_plan(of, field_details_list))
        return self._plans[key][1]

    def _make_plan(self, of: GraphQLObjectType, field_details_list: Any) -> _Plan | None:
        selected = self.collect_subfields(of, field_details_list)[0]
        names, attributes, formats, required = [], [], [], []
        for response_name, details in selected.items():
            field = of.fields.get(details[0].node.name.value)
            definition = field.extensions.get("strawberry-definition") if field else None
            if field is None or definition is None or not definition.is_basic_field or details[0].node.directives:
                return None
            leaf = field.type.of_type if isinstance(field.type, GraphQLNonNull) else field.type
            if not isinstance(leaf, GraphQLScalarType | GraphQLEnumType):
                return None
            names.append(response_name)
            attributes.append(definition.python_name)
            formats.append(None if _goes_out_as_it_is(leaf) else self._format(leaf))
            required.append(isinstance(field.type, GraphQLNonNull))
        getter = attrgetter(*attributes)
        read = getter if len(attributes) > 1 else lambda item: (getter(item),)
        return _Plan(tuple(names), read, tuple(formats), tuple(required))

    def _format(self, leaf: GraphQLScalarType | GraphQLEnumType) -> Callable[[Any], Any]:
        return stored_json if self._is_sent and leaf.name == _STORED_JSON else leaf.serialize


@cache
def _threads() -> LoopThreads:
    return LoopThreads()


def _goes_out_as_it_is(leaf: GraphQLScalarType | GraphQLEnumType) -> bool:
    """Whether a value of a type is its own JSON: texts, integers and words of enums."""
    if isinstance(leaf, GraphQLScalarType):
        return leaf.name in _AS_IT_IS
    words = getattr(leaf.extensions.get("strawberry-definition"), "wrapped_cls", None)
    return isinstance(words, type) and issubclass(words, StrEnum) and set(words) == set(leaf.values)
