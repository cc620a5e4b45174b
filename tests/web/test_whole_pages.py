"""All that the pages show, without a browser or a server."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio
import time_machine

from schema.annotation import queue_id
from store.open import open_database
from tests.expected import compare
from tests.fixed_project import JOBS, NAMES, NOW, PROJECT, QUEUE, RICH, TRACES, id_of, write_fixed
from tests.web.inside import outline, pages

BASE = f"/ui/projects/{PROJECT}"
TRACE, OTHER = TRACES[0].trace.id, TRACES[1].trace.id
FAILURE = TRACES[0].failures[0].id
HEADERS = ("location", "content-disposition", "cache-control", "content-security-policy", "referrer-policy")
WITH_FRAME = ("overview", "help")
"""Pages whose files have the navigation, which is the same on all."""
ADDRESSES = {
    "home": "/ui",
    "help": "/ui/help",
    "me": "/ui/me",
    "overview": BASE,
    "overview-of-a-method": f"{BASE}?method=flow",
    "answers": f"{BASE}/answers",
    "answers-wrong": f"{BASE}/answers?trace={TRACE}&state=wrong&text=a",
    "blame": f"{BASE}/blame",
    "blame-units": f"{BASE}/blame?by=unit",
    "blame-prompts": f"{BASE}/blame?by=prompt",
    "compare": f"{BASE}/compare",
    "compare-traces": f"{BASE}/compare?before={OTHER}&after={OTHER}&show=stillWrong",
    "compare-methods": f"{BASE}/compare?by=methods&before=flow&after=human",
    "failures": f"{BASE}/failures",
    "failures-filtered": f"{BASE}/failures?text=fact&labelled=no",
    "failures-sorted": f"{BASE}/failures?sort=-confidence",
    "failures-of-trace": f"{BASE}/failures?trace={TRACE}",
    "failures-saved": f"{BASE}/failures/saved",
    "failure": f"{BASE}/failures/{FAILURE}",
    "failure-of-pieces": f"{BASE}/failures/{TRACES[5].failures[0].id}",
    "failure-of-update": f"{BASE}/failures/{TRACES[4].failures[0].id}",
    "failure-of-search": f"{BASE}/failures/{TRACES[4].failures[1].id}",
    "failure-judged": f"{BASE}/failures/{TRACES[1].failures[1].id}",
    "failure-without-verdict": f"{BASE}/failures/{TRACES[3].failures[-1].id}",
    "queues": f"{BASE}/queues",
    "trace": f"{BASE}/traces/{TRACE}",
    "trace-units": f"{BASE}/traces/{TRACE}?show=units",
    "memory": f"{BASE}/traces/{TRACE}/memory",
    "memory-as-of": f"{BASE}/traces/{TRACE}/memory?asOf=3",
    "memory-unit": f"{BASE}/traces/{TRACE}/memory?unit={id_of('Variable note-2')}",
    "operation": f"{BASE}/operations/{id_of('Operation update')}",
    "operation-delete": f"{BASE}/operations/{id_of('Operation delete')}",
    "operation-search": f"{BASE}/operations/{TRACES[4].attributions[1].operation_id}",
    "message": f"{BASE}/variables/{id_of('Variable message-1')}",
    "prompt": f"{BASE}/variables/{id_of('Variable prompt')}",
    "unit": f"{BASE}/variables/{id_of('Variable note-2')}?compare={id_of('Variable note')}",
    "value": f"{BASE}/variables/{id_of('Variable note')}/value",
    "impact": f"{BASE}/variables/{id_of('Variable message-1')}/impact",
    "graph": f"{BASE}/variables/{id_of('Variable answer')}/graph",
    "graph-data": f"{BASE}/variables/{id_of('Variable answer')}/graph/data?failure={FAILURE}",
    "settings": f"{BASE}/settings",
    "jobs": f"{BASE}/jobs",
    "search": f"{BASE}/search?text=Oslo",
    "search-for-nothing": f"{BASE}/search?text=nowhere",
    **{f"job-{number}": f"{BASE}/jobs/{one.id}" for number, one in enumerate(JOBS)},
    "queue": f"{BASE}/queues/{queue_id(PROJECT, QUEUE)}",
    **{
        f"queue-dispute-{number}": f"{BASE}/queues/{queue_id(PROJECT, QUEUE)}/disputes/{one.id}"
        for number, one in enumerate(RICH.failures)
    },
    **{f"rich-failure-{number}": f"{BASE}/failures/{one.id}" for number, one in enumerate(RICH.failures)},
    "rich-failure-bare": f"{BASE}/failures/{TRACES[-1].failures[0].id}",
    "rich-failures": f"{BASE}/failures?trace={RICH.trace.id}&method=flow",
    "rich-answers": f"{BASE}/answers?trace={RICH.trace.id}",
    "rich-trace": f"{BASE}/traces/{RICH.trace.id}",
    "rich-trace-bare": f"{BASE}/traces/{TRACES[-1].trace.id}",
    "rich-trace-units": f"{BASE}/traces/{RICH.trace.id}?show=units",
    "rich-memory": f"{BASE}/traces/{RICH.trace.id}/memory?asOf=10",
    **{
        f"rich-operation-{name}": f"{BASE}/operations/{id_of(f'Operation {name}', RICH)}"
        for name in ("broken", "worse", "search-age", "search-home", "answer-open", "forget", "change-2")
    },
    **{
        f"rich-variable-{name}": f"{BASE}/variables/{id_of(f'Variable {name}', RICH)}"
        for name in ("said-old", "value-limit", "value-beyond", "age@1", "vector", "answer-age", "found-home")
    },
    "rich-compared": f"{BASE}/variables/{id_of('Variable age@2', RICH)}?compare={id_of('Variable age@0', RICH)}",
    "rich-impact": f"{BASE}/variables/{id_of('Variable said-li', RICH)}/impact",
    "rich-graph": f"{BASE}/variables/{id_of('Variable answer-age', RICH)}/graph",
    "rich-search": f"{BASE}/search?text=K%C3%A4the",
    "no-such-failure": f"{BASE}/failures/{'0' * 32}",
    "no-such-project": "/ui/projects/other",
}


@pytest_asyncio.fixture(scope="module")
async def client(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx.AsyncClient]:
    folder = tmp_path_factory.mktemp("pages")
    async with await open_database(f"sqlite:///{folder / 'test.db'}") as database:
        await write_fixed(database)
        with time_machine.travel(NOW, tick=False):
            async with pages(database, folder, PROJECT) as opened:
                yield opened


@pytest.mark.parametrize("name", ADDRESSES)
async def test_a_page(client: httpx.AsyncClient, name: str) -> None:
    with time_machine.travel(NOW, tick=False):
        answer = await client.get(ADDRESSES[name])
    kind = answer.headers.get("content-type", "").partition(";")[0]
    text = outline(answer.text) if kind == "text/html" else answer.text
    if name not in WITH_FRAME and "<main>" in text:
        text = text[text.index("<main>") :]
    text = re.sub(r"\b[0-9a-f]{16}\b", "the key", text)
    text = re.sub(r"/ui/assets/\w+/", "/ui/assets/", text)
    text = text.replace(answer.headers.get("x-request-id", "no id"), "the id of the request")
    head = [
        f"{answer.status_code} {kind}",
        *(f"{one}: {answer.headers[one]}" for one in HEADERS if one in answer.headers),
    ]
    compare(__file__, f"{name}.txt", "\n".join([*head, "", text]), NAMES)
