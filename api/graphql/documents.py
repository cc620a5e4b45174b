"""Documents of requests: parsing, validating, bounding, and caching of small valid documents.

Parsing and validating the largest document takes a tenth of a second. A thread does this work, and other requests go
on.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from functools import partial

from graphql import (
    DocumentNode,
    ExecutionResult,
    GraphQLError,
    GraphQLSchema,
    GraphQLSyntaxError,
    NoSchemaIntrospectionCustomRule,
    OperationType,
    specified_rules,
)

from api.graphql.chosen import ChosenOperation
from api.graphql.cost import document_cost, field_count
from api.graphql.hints import with_hint
from api.graphql.introspection import Introspection, asked_of_schema
from api.graphql.known_costs import KnownCosts
from api.graphql.limits import CODE, LimitError, Limits, check_document
from api.graphql.trees import drop_places, errors_of, parse_document
from api.graphql.worker_thread import WorkerThread

INVALID = "INVALID_DOCUMENT"

_ERRORS = 5
_SMALL = 4000
"""Characters of a document that is remembered; its tree takes some hundred times as many bytes."""
REMEMBERED = 60_000
"""Characters of all remembered documents together: their trees have a third of an object a character.

A full garbage collection visits each of these objects, up to a microsecond each, while all requests wait.
"""

_OF_SCHEMA = re.compile(r"__(?:schema|type)\b")
_SCHEMA_FIELD = 3
"""The cost of each field of an answer about the schema, leaves included, because each field is resolved by itself."""

LARGE = 3000
"""How many fields the server's loop completes within 50 ms; answers with more are completed on another loop.

Completing a field takes 12 microseconds. On another loop an answer waits for all others, twice as long under load.
"""

MOST_CHANGED = 1000
"""The most fields in the answer to a mutation or an update of a subscription, which is completed in one go."""

_BESIDE = 1000
"""The most introspection that is answered beside other fields: such an operation runs on the server's loop."""

_BEYOND_WORDS = 10**12
"""The highest cost that is reported."""


class Documents:
    """All documents of one server."""

    def __init__(self, limits: Limits, introspection: bool = True) -> None:
        """Begin with an empty cache.

        Args:
            limits: bounds of each document.
            introspection: whether clients may ask for the schema. Only then do errors suggest names of the schema.
        """
        self.limits = limits
        self._rules = (*specified_rules, *(() if introspection else (NoSchemaIntrospectionCustomRule,)))
        self.hide_suggestions = not introspection
        self._valid: OrderedDict[str, DocumentNode] = OrderedDict()
        self._characters = 0
        self._costs = KnownCosts(document_cost)
        self._fields = KnownCosts(field_count)
        self._thread = WorkerThread("documents")
        self.introspection = Introspection()

    def parse(self, text: str) -> DocumentNode:
        """The tree of a document.

        Raises:
            GraphQLError: the text is not a document, or is beyond a bound.
        """
        return self._known(text) or self._parse(text)

    def validate(self, schema: GraphQLSchema, text: str, document: DocumentNode) -> list[GraphQLError]:
        """The first errors of a document; none where it is valid."""
        if text in self._valid:
            return []
        errors = self._errors(schema, document)
        if not errors:
            self._remember(text, document)
        return errors

    async def read(self, schema: GraphQLSchema, text: str) -> tuple[DocumentNode, list[GraphQLError]]:
        """The tree of a document and its first errors, made in a thread if the document is not remembered.

        Raises:
            GraphQLError: see ``parse``.
        """
        known = self._known(text)
        if known is not None:
            return known, []
        document, errors = await self._thread.run(partial(self._read, schema, text))
        if not errors:
            self._remember(text, document)
        return document, errors

    async def check_cost(self, chosen: ChosenOperation) -> list[GraphQLError]:
        """The error of an operation that could cost too much; None if the operation may run."""
        if chosen.type is not OperationType.QUERY:
            fields = self._fields.of(chosen)
            if fields > MOST_CHANGED:
                kind = chosen.type.value
                bound = f"may have {MOST_CHANGED:,} fields"
                message = f"the answer to a {kind} {bound}, and {fields:,} are asked for: query them"
                return [GraphQLError(message, extensions={"code": CODE, "limit": MOST_CHANGED})]
        most = self.limits.cost
        cost = self._costs.of(chosen)
        if cost <= most and _OF_SCHEMA.search(chosen.text) and self.introspection.known(chosen) is None:
            asked = asked_of_schema(chosen)
            fields = await self.introspection.cost(chosen, asked, most // _SCHEMA_FIELD)
            of_schema = fields * _SCHEMA_FIELD
            if of_schema > _BESIDE and not asked.is_all:
                message = "ask for the schema in a document of its own: beside other fields it may be asked for little"
                return [GraphQLError(message, extensions={"code": CODE, "cost": of_schema, "limit": _BESIDE})]
            cost += of_schema
        if cost <= most:
            return []
        cost = min(cost, _BEYOND_WORDS)
        message = f"the document may cost {cost:,} or more, and {most:,} is the most: ask for less, or smaller pages"
        return [GraphQLError(message, extensions={"code": CODE, "cost": cost, "limit": most})]

    def is_large(self, chosen: ChosenOperation) -> bool:
        """Whether an operation's answer may have more than ``LARGE`` fields."""
        return self._fields.of(chosen) > LARGE

    async def answer_of_schema(self, chosen: ChosenOperation) -> ExecutionResult | None:
        """The answer to an operation that asks only about the schema; None for other operations.

        Call ``check_cost`` first.
        """
        if not _OF_SCHEMA.search(chosen.text):
            return None
        known = self.introspection.known(chosen)
        if known is not None:
            return known
        asked = asked_of_schema(chosen)
        if not asked.fields or not asked.is_all:
            return None
        return await self.introspection.answer(chosen)

    def _read(self, schema: GraphQLSchema, text: str) -> tuple[DocumentNode, list[GraphQLError]]:
        document = self._parse(text)
        return document, self._errors(schema, document, is_polite=True)

    def _errors(self, schema: GraphQLSchema, document: DocumentNode, is_polite: bool = False) -> list[GraphQLError]:
        errors = errors_of(schema, document, self._rules, _ERRORS, self.hide_suggestions, is_polite)
        for error in errors:
            if not self.hide_suggestions:
                error.message = with_hint(schema, error.message)
            error.extensions = {"code": INVALID} | (error.extensions or {})
        return errors

    def _parse(self, text: str) -> DocumentNode:
        try:
            document = parse_document(text, self.limits.tokens)
        except GraphQLSyntaxError as error:
            if "tokens" in error.message:
                raise LimitError("tokens", self.limits.tokens) from None
            error.extensions = {"code": INVALID}
            raise
        check_document(document, self.limits)
        return document

    def _known(self, text: str) -> DocumentNode | None:
        known = self._valid.get(text)
        if known is not None:
            self._valid.move_to_end(text)
        return known

    def _remember(self, text: str, document: DocumentNode) -> None:
        if len(text) > _SMALL or text in self._valid:
            return
        drop_places(document)
        self._valid[text] = document
        self._characters += len(text)
        while self._characters > REMEMBERED:
            self._characters -= len(self._valid.popitem(last=False)[0])
