"""What stands around an answer: its question, its trace, and the memory units that were found for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema.kinds import OperationKind, VariableKind

if TYPE_CHECKING:
    from schema.models import Variable
    from store.contract.protocol import GraphStore

_WIDTH = 100
_MOST = 10


async def around_answer(store: GraphStore, answer: Variable) -> list[str]:
    """Lines for people about an answer; none for any other variable."""
    from api.cli.meant import of_kind
    from api.cli.render.text import one_line, short
    from ingest.events.questions import questions_of
    from schema.models import Operation, Trace
    from schema.readable import readable
    from store.contract.answers import Label

    if answer.kind is not VariableKind.ANSWER:
        return []
    lines = [
        f"question  {short(one.id)} {one_line(readable(one.preview), _WIDTH)}"
        for one in (await questions_of(store, [answer]))[answer.id]
    ]
    lines += [
        f"trace     {short(one.id)} {one_line(one.name or one.external_id, _WIDTH)}"
        for one in await store.get(Label.TRACE, [answer.trace_id])
        if isinstance(one, Trace)
    ]
    steps = [one for one in await of_kind(store, answer, OperationKind.RETRIEVAL) if isinstance(one, Operation)]
    details = await store.operations([one.id for one in steps])
    found = {one.id: one for step in details.values() for one in step.generated}
    title = "found     "
    for one in list(found.values())[:_MOST]:
        lines.append(f"{title}{short(one.id)} {one_line(readable(one.preview), _WIDTH)}")
        title = " " * len(title)
    if len(found) > _MOST:
        lines.append(f"{title}and {len(found) - _MOST:,} more: memtrace show --kind Retrieval {short(answer.id)}")
    return lines
