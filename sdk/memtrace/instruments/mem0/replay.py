"""Changes calls of mem0 in a replay: prompts and replies of the model, and results of searches."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memtrace.context import scope
from memtrace.instruments.mem0.owners import OWNERS
from memtrace.steps import PackageCall

_NO_UNIT = 1_000_000
"""No number of a unit in mem0's prompt, where numbers begin with 0."""


def asked(name: str, messages: Any) -> PackageCall | None:
    """The call of a model by the operation ``name`` as a replay knows it; None if nothing is replayed."""
    here = scope.get()
    if here is None or here.trace.replaying is None or not isinstance(messages, Sequence):
        return None
    return here.trace.replaying.package(name.replace(" ", ":"), {"messages": messages})


def replied(
    replayed: PackageCall, original: Callable[..., Any], model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Call the model with changed prompts; returns the changed reply."""
    messages = kwargs.get("messages", args[0] if args else None)
    texts = {one["role"]: one["content"] for one in messages or () if isinstance(one.get("content"), str)}
    changed = replayed.given(texts)
    if changed != texts:
        said = [
            {**one, "content": changed[one["role"]]} if one.get("content") == texts.get(one["role"]) else one
            for one in messages
        ]
        args, kwargs = (said, *args[1:]) if args else args, {**kwargs, "messages": said} if not args else kwargs
    reply = original(model, *args, **kwargs)
    return replayed.reply(reply, with_fact) if isinstance(reply, str) else reply


def with_fact(reply: str, text: str) -> str | None:
    """A reply with one more fact, or one more unit; None for a reply of another form."""
    try:
        said = json.loads(reply)
    except ValueError:
        return None
    if not isinstance(said, dict):
        return None
    if isinstance(said.get("facts"), list):
        return json.dumps({**said, "facts": [*said["facts"], text]})
    if isinstance(said.get("memory"), list):
        unit = {"id": str(_NO_UNIT), "text": text, "event": "ADD", "attributed_to": "user"}
        return json.dumps({**said, "memory": [*said["memory"], unit]})
    return None


def remember(replayed: PackageCall, memory: Any, said: Mapping[str, Any]) -> None:
    """After a write or deletion of a unit, add the units that the replay puts in, for the same owner."""
    owner = {kind: said[kind] for kind in OWNERS if said.get(kind)}
    for text in replayed.found([]):
        if inspect.iscoroutinefunction(memory._create_memory):
            replayed.refuse("nothing can be put into a memory that is asynchronous")
        else:
            memory._create_memory(text, {}, dict(owner))


def found(replayed: PackageCall, result: Any) -> Any:
    """The result of a search with the changes; a new text gets an id that the store does not know."""
    items = result.get("results") if isinstance(result, dict) else result
    if not isinstance(items, list):
        return result
    texts = [str(one.get("memory")) for one in items]
    by_text = dict(zip(texts, items, strict=True))
    wanted = replayed.found(texts)
    if wanted == texts:
        return result
    new = [
        by_text.get(text) or {"id": f"replayed {place}", "memory": text, "score": 1.0}
        for place, text in enumerate(wanted)
    ]
    return {**result, "results": new} if isinstance(result, dict) else new
