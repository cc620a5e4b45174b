"""What did harm: operations, prompts, memory units and sessions, ranked while the request waits."""

from collections.abc import Sequence

import strawberry

from api.errors import TooManyError
from api.graphql import reads
from api.graphql.context import Info
from api.graphql.node import Node
from attribution.blame import model as blamed
from attribution.blame.model import By
from attribution.blame.rank import blame, chosen_verdicts
from store.contract.answers import Label
from store.contract.protocol import GraphStore

MAX_FAILURES = 10_000
MAX_DERIVATIONS = 1_000_000

_LABELS = {
    By.NAME: Label.OPERATION,
    By.OPERATION: Label.OPERATION,
    By.PROMPT: Label.VARIABLE,
    By.UNIT: Label.VARIABLE,
    By.SESSION: Label.SESSION,
}

strawberry.enum(
    By,
    name="BlameBy",
    description="What is ranked. name: names of operations, with all calls of a name together; prompt: prompts that "
    "the operations at fault used, where prompts of equal text count as one; unit: versions of memory units.",
    graphql_name_from="value",
)


@strawberry.type(description="An element of the graph, and the harm that it did.")
class Blamed:
    """The fields of ``attribution.blame.model.Blamed``."""

    project_id: strawberry.Private[str]
    by: strawberry.Private[By]
    id: strawberry.ID = strawberry.field(
        description="The id of the element; of prompts with equal text, and of operations with one name, "
        "the id of the first one."
    )
    name: str = strawberry.field(description="Its name. Several may have the same.")
    failed: float = strawberry.field(
        description="The number of failures that it is blamed for, each weighted by the confidence of the verdict."
    )
    passed: int = strawberry.field(description="The number of right answers that causally depend on the element.")
    score: float = strawberry.field(
        description="Ochiai's coefficient of both, from 0 to 1: failed / sqrt(total * (failed + passed)), where total "
        "is the weight of all failures that anything is blamed for."
    )

    @strawberry.field(description="The operation, variable or session itself.")
    async def element(self, info: Info) -> Node | None:
        return await info.context.load(self.project_id, reads.elements, self.id, _LABELS[self.by])


async def blamed_of(
    info: Info, store: GraphStore, by: By, trace_id: str | None, name: str | None, first: int
) -> list[Blamed]:
    """The worst elements of a ranking, of one name if one is given. The rankings of one request are computed together.

    Raises:
        TooManyError: the project has too many failures for one answer.
    """
    found = await info.context.load(store.project_id, _rankings, by, trace_id)
    return [
        Blamed(
            project_id=store.project_id,
            by=by,
            id=strawberry.ID(one.id),
            name=one.name,
            failed=one.failed,
            passed=one.passed,
            score=one.score,
        )
        for one in [one for one in found or [] if name is None or one.name == name][:first]
    ]


async def _rankings(store: GraphStore, by: Sequence[By], trace_id: str | None) -> dict[By, list[blamed.Blamed]]:
    labels = (await store.stats(trace_id)).labels
    for label, most in ((Label.FAILURE, MAX_FAILURES), (Label.DERIVATION, MAX_DERIVATIONS)):
        if labels.get(label, 0) > most:
            instead = "name a trace, or use memtrace blame" if trace_id is None else "use memtrace blame"
            raise TooManyError(f"{label.lower()}s", most, instead)
    return await blame(store, await chosen_verdicts(store, trace_id), by, None if trace_id is None else [trace_id])
