"""What was there and was not chosen, for each piece that an answer needed.

The computation needs the whole structure of a trace and some seconds of the processor, so that child processes do it;
see ``api.http.explaining``.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import strawberry

from api.graphql import reads
from api.graphql.attribution import operation_of
from api.graphql.context import Context, Info
from api.graphql.refs import OperationRef, VariableRef
from api.graphql.scalars import ErrorType, VariableKind
from attribution.why_not import model
from schema import models
from schema.errors import InputError
from store.contract.answers import Label
from store.contract.protocol import GraphStore

MAX_ELEMENTS = 200_000
"""Of a trace."""
MAX_BYTES = 4 << 20
"""Of the text of a trace that is searched through, as much as is read before a request ends: 8 MiB of short sentences
took 42 s on a slow processor. A conversation of 430 sessions has 1.5 MB."""

_LIST = {"size": model.MOST}
_MANY = f"The list has at most {model.MOST} items."
_RANK = "The unit's rank in the search, from 1; null if the recording does not say."
_SCORE = "The unit's score in the search, on the search's own scale; null if the recording does not say."
_CUT = f"Texts end after {model.LONGEST} characters."

strawberry.enum(model.Fate, description="What an operation did to a memory unit.", graphql_name_from="value")


@strawberry.type
class _OfVariable:
    """A record about a variable."""

    project_id: strawberry.Private[str]
    variable_id: strawberry.ID = strawberry.field(description="The id of the variable.")

    @strawberry.field(description="The variable.")
    async def variable(self, info: Info) -> VariableRef | None:
        return await info.context.load(self.project_id, reads.elements, self.variable_id, Label.VARIABLE)


@strawberry.type(description="A memory unit that held the piece and was current when the search began.")
class HeldUnit(_OfVariable):
    """The fields of ``attribution.why_not.model.Held``."""

    external_id: str = strawberry.field(description="The unit's id in the source.")
    label: str = strawberry.field(description="A name for people.")
    quote: str = strawberry.field(description="The words of the unit that show the piece.")
    confidence: float = strawberry.field(description="How surely the piece is there, from 0 to 1.")
    rank: int | None = strawberry.field(description=_RANK)
    score: float | None = strawberry.field(description=_SCORE)
    returned: bool = strawberry.field(description="Whether a search of the question returned the unit.")
    operation_id: strawberry.ID | None = strawberry.field(
        description="The id of the search that returned or rated the unit; null if none did."
    )


@strawberry.type(description="A memory unit that a search of the question returned.")
class ReturnedUnit(_OfVariable):
    """The fields of ``attribution.why_not.model.Returned``."""

    external_id: str = strawberry.field(description="Its id in the source.")
    label: str = strawberry.field(description="A name for people.")
    text: str = strawberry.field(description="How its value begins.")
    rank: int | None = strawberry.field(description=_RANK)
    score: float | None = strawberry.field(description=_SCORE)
    holds: bool = strawberry.field(description="Whether the unit holds the piece.")
    operation_id: strawberry.ID = strawberry.field(description="The id of the search.")


@strawberry.type(description="A sentence in an extraction's input that no output covers.")
class UncoveredSentence(_OfVariable):
    """The fields of ``attribution.why_not.model.Uncovered``."""

    text: str = strawberry.field(description="The sentence.")
    is_piece: bool = strawberry.field(description="Whether it is the piece that the answer needed.")
    nearest: str = strawberry.field(
        description="The closest text among the extraction's outputs; empty if no text is close."
    )


@strawberry.type(description="An input or output of an operation, with the words that matter.")
class QuotedVariable(_OfVariable):
    """The fields of ``attribution.why_not.model.Made``."""

    text: str = strawberry.field(description="The words.")


@strawberry.type(description=f"An extraction that did not bring the piece out. {_CUT}")
class ExtractionWhyNot:
    """The fields of ``attribution.why_not.model.Extraction``."""

    project_id: strawberry.Private[str]
    operation_id: strawberry.ID = strawberry.field(description="The id of the operation.")
    operation_name: str = strawberry.field(description="The name of the operation, for people.")
    sentences: int = strawberry.field(description="The number of sentences that the extraction was given.")
    uncovered_count: int = strawberry.field(description="The number of sentences that no output covers.")
    uncovered: list[UncoveredSentence] = strawberry.field(
        description=f"These sentences; the sentence of the piece comes first. {_MANY}", metadata=_LIST
    )
    facts: list[QuotedVariable] = strawberry.field(
        description=f"The outputs that later operations can use. {_MANY}", metadata=_LIST
    )


@strawberry.type(description="A memory unit that an update was shown, and what the update did to it.")
class UpdateCandidate(_OfVariable):
    """The fields of ``attribution.why_not.model.ShownUnit``."""

    external_id: str = strawberry.field(description="The unit's id in the source.")
    label: str = strawberry.field(description="A name for people.")
    fate: model.Fate = strawberry.field(description="What the operation did to the unit.")
    old: str = strawberry.field(description="The unit's text before, or the relevant part.")
    new: str | None = strawberry.field(
        description="The unit's text after, or the relevant part; null if it was not rewritten."
    )
    new_variable_id: strawberry.ID | None = strawberry.field(
        description="The id of the unit's next version; null if there is none."
    )
    held: bool = strawberry.field(description="Whether the unit held the piece before.")
    holds: bool = strawberry.field(description="Whether the unit holds the piece after the operation.")


@strawberry.type(description=f"An update or deletion that did not carry the piece on. {_CUT}")
class ChangeWhyNot:
    """The fields of ``attribution.why_not.model.Change``."""

    project_id: strawberry.Private[str]
    operation_id: strawberry.ID = strawberry.field(description="The id of the operation.")
    operation_name: str = strawberry.field(description="The name of the operation, for people.")
    given: list[QuotedVariable] = strawberry.field(
        description=f"What it was given besides units that had the piece, such as a fact. {_MANY}", metadata=_LIST
    )
    candidates_count: int = strawberry.field(
        description="The number of units that the operation was shown: used, ended, or in its prompt."
    )
    candidates: list[UpdateCandidate] = strawberry.field(
        description=f"These units, those that held the piece first. {_MANY}", metadata=_LIST
    )
    added: list[QuotedVariable] = strawberry.field(description=f"The units that it added. {_MANY}", metadata=_LIST)


@strawberry.type(description="A place of the piece in the inputs of the answer.")
class ContextPlace(_OfVariable):
    """The fields of ``attribution.why_not.model.Stood``."""

    kind: VariableKind = strawberry.field(description="The kind of value: a prompt, a context, a memory unit.")
    label: str = strawberry.field(description="A name for people.")
    characters: int = strawberry.field(description="How many characters the whole value has.")
    offset: int = strawberry.field(description="Where the quote begins in the value, in characters from 0.")
    quote: str = strawberry.field(description="The words that show the piece.")
    before: str = strawberry.field(description="The text before the quote, up to 80 characters.")
    after: str = strawberry.field(description="The text after the quote, up to 80 characters.")


@strawberry.type(
    description="A piece that the right answer needed, and what became of it. Where it was lost is what the free pass "
    f"(see `Method`) says of this piece. {_CUT}"
)
class WhyNot:
    """The fields of ``attribution.why_not.model.WhyNot``."""

    project_id: strawberry.Private[str]
    piece: str = strawberry.field(description="The piece: a sentence of a message.")
    message_id: strawberry.ID = strawberry.field(description="The id of this message.")
    message_external_id: str = strawberry.field(description="The message's id in the source.")
    message_label: str = strawberry.field(description="The message's name, for people.")
    said_after: bool = strawberry.field(
        description="Whether no operation used this message before the question was asked, so that the memory could"
        " not know the piece."
    )
    error_type: ErrorType | None = strawberry.field(description="How the piece was lost; null if nobody knows.")
    operation_id: strawberry.ID | None = strawberry.field(
        description="The id of the operation that lost it; null if none is named."
    )
    operation_external_id: str | None = strawberry.field(description="The operation's id in the source.")
    operation_name: str | None = strawberry.field(description="The operation's name, for people.")
    reason: str | None = strawberry.field(description="The reason, in words.")
    confidence: float = strawberry.field(description="How sure this is, from 0 to 1.")
    held_count: int = strawberry.field(
        description="How many memory units held the piece and were current when the search began."
    )
    held: list[HeldUnit] = strawberry.field(
        description=f"These units, the best ranked first, then the surest. {_MANY}", metadata=_LIST
    )
    considered: int | None = strawberry.field(
        description="How many units the searches of the question rated; null if the recording has no ranking."
    )
    returned_count: int = strawberry.field(description="The number of units that the searches returned.")
    returned: list[ReturnedUnit] = strawberry.field(
        description=f"These units, by search and rank. {_MANY}", metadata=_LIST
    )
    extractions: list[ExtractionWhyNot] = strawberry.field(
        description="The extraction that lost the piece; null for other losses.", metadata={"size": 2}
    )
    changes: list[ChangeWhyNot] = strawberry.field(
        description="The update or deletion that lost the piece; null for other losses.", metadata={"size": 2}
    )
    context: list[ContextPlace] = strawberry.field(
        description=f"Where the piece stood in what the answer was made from; empty if it did not get there. {_MANY}",
        metadata=_LIST,
    )

    @strawberry.field(description="The operation that lost the piece.")
    async def operation(self, info: Info) -> OperationRef | None:
        return await operation_of(info, self.project_id, self.operation_id)


_TYPES: dict[type, type] = {
    model.Held: HeldUnit,
    model.Returned: ReturnedUnit,
    model.Uncovered: UncoveredSentence,
    model.Made: QuotedVariable,
    model.Extraction: ExtractionWhyNot,
    model.ShownUnit: UpdateCandidate,
    model.Change: ChangeWhyNot,
    model.Stood: ContextPlace,
    model.WhyNot: WhyNot,
}


async def why_not_of(info: Info, failure: models.Failure) -> list[WhyNot]:
    """Explains for each piece of a failure what was there and was not chosen.

    Raises:
        InputError: the trace is too large to be analysed while a caller waits.
        TooLongError: the analysis took too long.
    """
    found = await info.context.load(failure.project_id, _why_nots, failure.id, failure.project_id, info.context)
    if found is None:
        raise InputError(
            "whyNot",
            "",
            f"its trace has more than {MAX_ELEMENTS:,} elements, or more than {MAX_BYTES:,} bytes of text to search: "
            "use the command memtrace why-not",
        )
    return [_typed(one, failure.project_id) for one in found]


async def _why_nots(
    store: GraphStore, failure_ids: Sequence[str], project_id: str, context: Context
) -> dict[str, list[model.WhyNot]]:
    """The explanations of several failures. Failures of traces that are too large are left out."""
    failures: list[Any] = await store.get(Label.FAILURE, failure_ids)
    counts = await store.counts(list({one.trace_id for one in failures}))
    small = [one.id for one in failures if sum(counts[one.trace_id].values()) <= MAX_ELEMENTS]
    if not small:
        return {}
    explaining = context.here(context.platform.explaining)
    return await explaining.why_nots(context.access.principal, project_id, small, MAX_BYTES)


def _typed(value: Any, project_id: str) -> Any:
    """The explanations as GraphQL types, with the project."""
    if isinstance(value, list):
        return [_typed(one, project_id) for one in value]
    of = _TYPES.get(type(value))
    if of is None:
        return value
    named = {_RENAMED.get(name, name): _typed(one, project_id) for name, one in msgspec.structs.asdict(value).items()}
    return of(project_id=project_id, **named)


_RENAMED = {"operation": "operation_name"}
"""A field of the schema that gives the operation itself is called as everywhere."""
