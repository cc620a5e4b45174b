"""The labels of many queues in one operation are read one queue after the other."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

import api.graphql.annotation
from attribution.review.labels import Label


async def test_labels_of_many_queues_are_not_in_memory_together(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = most = 0

    async def export_labels(store: object, failure_ids: object) -> list[Label]:
        nonlocal reading, most
        reading += 1
        most = max(most, reading)
        await asyncio.sleep(0.01)
        reading -= 1
        return [Label(query_id=str(failure_ids), primary=None)]

    monkeypatch.setattr(api.graphql.annotation, "export_labels", export_labels)
    queue_type: Any = api.graphql.annotation.AnnotationQueue
    field: Any = next(one for one in queue_type.__strawberry_definition__.fields if one.name == "labels")
    context = SimpleNamespace(in_turn=asyncio.Lock(), door=lambda project_id: SimpleNamespace(store=None))
    queues = [SimpleNamespace(project_id="p", failure_ids=number) for number in range(10)]
    found = await asyncio.gather(
        *(field.base_resolver.wrapped_func(queue, SimpleNamespace(context=context)) for queue in queues)
    )
    assert most == 1
    assert [f'"query_id":"{number}"' in line for number, line in enumerate(found)] == [True] * 10
