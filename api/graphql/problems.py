"""Expected errors of mutations are part of the answer's type, so that clients must handle them."""

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

import strawberry

from api.errors import ForbiddenError
from schema.errors import AmbiguousError, ConflictError, InputError, NotFoundError

if TYPE_CHECKING:
    from api.graphql.context import Info

P = ParamSpec("P")
T = TypeVar("T")


@strawberry.interface(description="Why a mutation changed nothing.")
class Problem:
    message: str = strawberry.field(description="What is wrong, in words.")
    code: str = strawberry.field(description="What is wrong, as a code that programs can check, such as `NOT_FOUND`.")


@strawberry.type(description="Nothing that you have access to has this id.")
class NotFound(Problem):
    """See ``schema.errors.NotFoundError``."""


@strawberry.type(description="Your role in the project does not allow this.")
class Forbidden(Problem):
    """See ``api.errors.ForbiddenError``."""

    needed: str = strawberry.field(description="The role that you need.")


@strawberry.type(description="The input is not valid.")
class InvalidInput(Problem):
    """See ``schema.errors.InputError``."""

    place: str = strawberry.field(description="Which part of the input is not valid; empty if all of it.")


@strawberry.type(description="The request contradicts what is stored, or a reference in it fits several things.")
class Conflict(Problem):
    """See ``schema.errors.ConflictError`` and ``AmbiguousError``."""

    candidates: list[strawberry.ID] = strawberry.field(
        default_factory=list,
        description="With the code `AMBIGUOUS`: ids of some of the things that the reference fits.",
    )


Problems = NotFound | Forbidden | InvalidInput | Conflict


def outcome(
    mutation: Callable[P, Coroutine[Any, Any, T | Problems]],
) -> Callable[P, Coroutine[Any, Any, T | Problems]]:
    """The result of a mutation, or its expected error.

    A mutation that has begun runs to its end, even if the client stops waiting.
    """

    @wraps(mutation)
    async def mutate(*args: P.args, **kwargs: P.kwargs) -> T | Problems:
        info = cast("Info", kwargs["info"])
        try:
            return await info.context.platform.acts.carry(mutation(*args, **kwargs))
        except NotFoundError as error:
            return NotFound(message=str(error), code="NOT_FOUND")
        except ForbiddenError as error:
            return Forbidden(message=str(error), code="FORBIDDEN", needed=error.needed)
        except InputError as error:
            return InvalidInput(message=str(error), code="BAD_INPUT", place=error.place or error.source)
        except ConflictError as error:
            return Conflict(message=str(error), code="CONFLICT")
        except AmbiguousError as error:
            ids = [strawberry.ID(id_) for id_ in error.candidates]
            return Conflict(message=str(error), code="AMBIGUOUS", candidates=ids)

    return mutate
