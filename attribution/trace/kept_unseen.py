"""Memories that a program keeps by itself, such as a dictionary: its models' replies came back in later prompts.

No recorded step stored these texts, changed them or chose among them. Where a fact is lost there, nothing shows it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from attribution.text.said import said
from attribution.trace.graph import TraceGraph
from schema.kinds import OperationKind, VariableKind
from schema.models import Variable

_REPLIES = frozenset({VariableKind.RESPONSE, VariableKind.ANSWER})
_SHOWN_IN = frozenset({VariableKind.PROMPT, VariableKind.OTHER})
"""Kinds of texts that a model is given: what a tool gave back is of kind Other."""
_INSTRUCTIONS, _SHOWN = 40, 60
"""Characters shown of a model's instructions, and of a reply."""
_EXAMPLES = 3
"""The most replies, and the most places in the code, that are named."""


@dataclass(frozen=True, slots=True)
class KeptReplies:
    """Replies that came back in later prompts, and no recorded step stored them.

    Attributes:
        replies: in their order.
        writers: the operations that made them.
        readers: the operations that were given them in a prompt.
    """

    replies: tuple[str, ...]
    writers: tuple[str, ...]
    readers: tuple[str, ...]


def kept_unseen(graph: TraceGraph) -> KeptReplies | None:
    """The replies that a program kept out of sight; None if there are none, or if any memory unit is recorded.

    A prompt that also has what the user said before the reply, or next in a recorded history, repeats a conversation,
    and keeps no note. What a tool gave back to a model may show a note, too, if the conversation at hand does not have
    the reply. A reply that a recorded step put into a history, such as a summary of the messages before, is no note out
    of sight.
    """
    if any(one.kind is VariableKind.MEMORY_UNIT for one in graph.variables.values()):
        return None
    in_histories = _put_into_histories(graph)
    replies: dict[str, None] = {}
    readers: dict[str, None] = {}
    for prompt in (one for one in graph.variables.values() if one.kind in _SHOWN_IN):
        notes = [one for one in _notes_in(graph, prompt) if one not in in_histories]
        replies.update(dict.fromkeys(notes))
        readers.update(dict.fromkeys(graph.users(prompt.id) if notes else ()))
    if not replies:
        return None
    kept = sorted(replies, key=lambda one: graph.variables[one].sequence)
    writers = dict.fromkeys(graph.variables[one].operation_id or "" for one in kept)
    return KeptReplies(tuple(kept), tuple(writers), tuple(readers))


def is_of_notes(graph: TraceGraph, variable_id: str) -> bool:
    """Whether a program wrote a prompt from kept replies, and not from a conversation."""
    return bool(_notes_in(graph, graph.variables[variable_id]))


def problem(graph: TraceGraph, kept: KeptReplies) -> str:
    """What is missing, with the texts that came back and the places in the code."""
    quotes = [f"“{said(graph.variables[one].preview, _SHOWN)}”" for one in kept.replies[:_EXAMPLES]]
    more = ", …" if len(kept.replies) > _EXAMPLES else ""
    count = "a reply of a model" if len(kept.replies) == 1 else f"{len(kept.replies):,} replies of models"
    return (
        f"the program keeps a memory that is not recorded: {count} came back in later prompts, and no recorded step "
        f"stored them or chose among them: {', '.join(quotes)}{more}; made at {_places(graph, kept.writers)}, shown "
        f"again at {_places(graph, kept.readers, kept.writers)}"
    )


def fix(graph: TraceGraph, kept: KeptReplies) -> str:
    """What to decorate, by the places in the code."""
    searched = any(one.kind is OperationKind.RETRIEVAL for one in graph.operations.values())
    chooses = (
        ""
        if searched
        else (
            ', put @memtrace.operation(kind="Retrieval") above the function that chooses the texts for the prompt at '
            f"{_places(graph, kept.readers, kept.writers)} and returns them"
        )
    )
    made = _places(graph, kept.writers)
    return (
        'put @memtrace.operation(kind="Extraction", output="MemoryUnit", each=True) above the function that stores '
        f"what comes from {made}, and let it return the list of stored texts{chooses}; name a text that is taken out "
        "with memtrace.deleted(text), and open `with memtrace.trace(id=...)` around the whole run"
    )


def _places(graph: TraceGraph, operations: Iterable[str], but: Iterable[str] = ()) -> str:
    """Places in the code, each with the beginning of the instructions that the model got there.

    Without the places of the operations ``but``, if there are others: a model that changes notes is shown them, too.
    """
    left_out = {_place(graph, one) for one in but}
    found = list(dict.fromkeys(_place(graph, one) for one in operations))
    listed = [one for one in found if one not in left_out] or found
    return " and ".join([*listed[:_EXAMPLES], *(["others"] if len(listed) > _EXAMPLES else [])])


def _place(graph: TraceGraph, operation_id: str) -> str:
    operation = graph.operations[operation_id]
    told = [one for one in graph.used(operation_id) if _is_instruction(graph, one)]
    text = " ".join(graph.variables[told[0]].preview.split()) if told else ""
    shown = f" (“{text[:_INSTRUCTIONS]}{'…' if len(text) > _INSTRUCTIONS else ''}”)" if text else ""
    return f"{operation.location or operation.name or operation.external_id}{shown}"


def _notes_in(graph: TraceGraph, shown: Variable) -> list[str]:
    """The replies that a model's prompt has from outside of the conversation at hand."""
    sources = {one.source for one in graph.parents(shown.id)}
    replies = [one for one in sources if _is_reply(graph, one)]
    if not replies:
        return []
    known = set(sources)
    if shown.kind is not VariableKind.PROMPT:
        models = [one for one in graph.users(shown.id) if graph.operations[one].kind is OperationKind.GENERATION]
        replies, known = replies if models else [], known.union(*map(graph.used, models))
    return [one for one in replies if _beside(graph, one).isdisjoint(known)]


def _is_instruction(graph: TraceGraph, variable_id: str) -> bool:
    variable = graph.variables[variable_id]
    return variable.kind is VariableKind.PROMPT and not graph.parents(variable_id)


def _is_reply(graph: TraceGraph, variable_id: str) -> bool:
    variable = graph.variables[variable_id]
    maker = graph.operations.get(variable.operation_id or "")
    return variable.kind in _REPLIES and maker is not None and maker.kind is OperationKind.GENERATION


def _put_into_histories(graph: TraceGraph) -> set[str]:
    """The replies from which a message was made that stands in a recorded history."""
    written = [one for one in graph.variables.values() if one.kind is VariableKind.PROMPT]
    histories = {
        prompt.id
        for prompt in written
        for operation in graph.users(prompt.id)
        if any(graph.variables[one].kind is VariableKind.BUFFER for one in graph.made(operation))
    }
    return {parent.source for prompt in histories for parent in graph.parents(prompt)}


def _beside(graph: TraceGraph, reply: str) -> set[str]:
    """The messages to which a reply was made, and those that were appended to a history together with the reply."""
    used = graph.used(graph.variables[reply].operation_id or "")
    made = [edge.target for edge in graph.children(reply)]
    histories = [one for one in (*used, *made) if graph.variables[one].kind is VariableKind.BUFFER]
    appended = [edge.source for one in histories for edge in graph.parents(one)]
    return {one for one in (*used, *appended) if graph.is_message(one)}
