"""All that the writing commands print, one after the other: as text, and with --json; and what the store then holds."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest
import time_machine

from api.cli.context import DEFAULT_PROJECT
from api.settings.loading import load_settings, open_queue
from ingest.queue.admission import Sent, admit
from ingest.queue.worker import EventWorker
from store.contract.protocol import Database
from store.open import open_database
from tests.cli.conftest import Cli
from tests.contract.annotating import failing
from tests.contract.samples import assistant
from tests.expected import compare, ids_of
from tests.fixed_project import NOW
from tests.queue.sets import event_line

TRACES = [assistant(DEFAULT_PROJECT), failing(DEFAULT_PROJECT, 3)]
FAILURE, ANSWER = TRACES[0].failures[0].id, TRACES[0].failures[0].answer_id
LABEL = {"query_id": "question 0", "primary": {"type": "UpdateError", "op_id": "step"}, "reason": "so", "author": "Eva"}

Act = tuple[str, ...]
"""A command; ``{case}`` is the failure that a queue gave last."""
VERDICTS: list[Act] = [
    ("verdict", FAILURE, "--type", "UpdateError", "--reason", "lost", "--author", "Ada"),
    ("verdict", FAILURE, "--type", "UpdateError", "--operation", "update", "--reason", "lost", "--author", "Ada"),
    ("verdict", FAILURE, "--type", "AnnotationError", "--also", "LLMAsAJudgeError", "--author", "Ada"),
    ("verdict", FAILURE, "--history"),
    ("verdict", FAILURE, "--undo", "--author", "Ada"),
    ("failures", "assistant"),
    ("right", f"{ANSWER}"),
    ("unfail", FAILURE, "-y"),
    ("right", f"{ANSWER}"),
    ("fail", f"{ANSWER}", "--gold", "Bergen", "--evidence", "message-2", "--comment", "a user wrote"),
    ("fail", "nothing", "--gold", "x"),
    ("failures", "--trace", "assistant"),
    ("labels", "import", "labels.jsonl"),
    ("labels", "import", "labels.jsonl"),
    ("labels", "export", "-"),
]
QUEUES: list[Act] = [
    ("annotate", "queue", "create", "monday", "--seed", "s", "--person", "Ada", "--person", "Ben", "--minutes", "20"),
    ("annotate", "queue", "create", "monday", "--seed", "s"),
    ("annotate", "queue", "list"),
    ("annotate", "next", "monday", "--author", "Ada"),
    ("annotate", "submit", "monday", "{case}", "--type", "AnnotationError", "--reason", "wrong", "--author", "Ada"),
    ("annotate", "next", "monday", "--author", "Ada"),
    ("annotate", "skip", "monday", "{case}", "--author", "Ada"),
    ("annotate", "undo", "monday", "--author", "Ada"),
    ("annotate", "next", "monday", "--author", "Cleo"),
    ("annotate", "submit", "monday", "{case}", "--reason", "can't tell", "--confidence", "0.5", "--author", "Ada"),
    ("annotate", "queue", "show", "monday"),
    ("annotate", "disputes", "monday"),
    ("annotate", "queue", "close", "monday"),
    ("annotate", "next", "monday", "--author", "Ben"),
    ("annotate", "queue", "delete", "monday", "-y"),
]
KEEPING: list[Act] = [
    ("keys", "create", "--name", "for Ana", "--person", "Ana", "--role", "writer", "--expires", "30"),
    ("keys", "create", "--name", "for nobody", "--role", "boss"),
    ("keys", "list"),
    ("keys", "revoke", "{key}"),
    ("keys", "revoke", "nothing"),
    ("keys", "list"),
    ("retention", "set"),
    ("retention", "set", "--days", "30", "--traces", "2"),
    ("retention", "show"),
    ("retention", "run", "--dry-run"),
    ("retention", "clear"),
    ("retention", "run", "--dry-run"),
    ("dlq", "list"),
    ("dlq", "show", "nothing"),
    ("migrate",),
    ("delete", "nothing", "-y"),
    ("delete", "assistant", "-y"),
    ("traces",),
]
LETTERS: list[Act] = [
    ("dlq", "list"),
    ("dlq", "list", "--after", "1", "--limit", "1"),
    ("dlq", "show", "1"),
    ("dlq", "show", "99"),
    ("dlq", "replay", "1"),
    ("dlq", "replay", "99"),
    ("dlq", "drop", "2"),
    ("dlq", "drop", "2"),
    ("dlq", "list"),
    ("dlq", "drop", "--all", "-y"),
    ("dlq", "list"),
]
ACTS = {"verdicts": VERDICTS, "queues": QUEUES, "keeping": KEEPING, "letters": LETTERS}
BAD = [
    event_line("used", "talk", operation="o", variable="none", position=0),
    event_line("derived", "talk", 1, derivation="d", source="a", target="b", operation="o", kind="Derivation"),
    event_line("operationEnded", "talk", 2, operation="o", status="ok"),
]


async def _give_up(cli: Cli, database: Database) -> None:
    """Make dead letters of the bad events."""
    async with await open_queue(load_settings(None, {"store": cli.store})) as queue:
        assert await admit(queue, DEFAULT_PROJECT, Sent(BAD)) == []
        worker = EventWorker(queue, database, 1, concurrency=1)
        await worker.start()
        while (await queue.state()).packets:
            await asyncio.sleep(0.01)
        await worker.stop(10)


def _stored(folder: Path, has_letters: bool) -> Cli:
    cli = Cli(f"sqlite:///{folder / 'test.db'}")

    async def write() -> None:
        async with await open_database(cli.store) as database:
            for trace in TRACES:
                await trace.write(database.project(DEFAULT_PROJECT))
            if has_letters:
                await _give_up(cli, database)

    asyncio.run(write())
    (folder / "labels.jsonl").write_text(json.dumps(LABEL) + "\n", "utf-8")
    return cli


def _steady(text: str) -> str:
    """The text without secrets, and without times of the store's own clock."""
    text = re.sub(r"\bmt_[\w-]+", "a secret", text)
    text = re.sub(r"\b[0-9a-f]{16}\b", "the key", text)
    time = re.compile(r"20\d\d-\d\d-\d\d(T[\d:.]+Z?| \d\d:\d\d(:\d\d)?)")
    text = time.sub(lambda found: found[0] if found[0] < "2026-05" else "now", text)
    text = re.sub(r"until \d\d:\d\d UTC", "until soon", text)
    return re.sub(r'"secondsLeft": \d+', '"secondsLeft": 1', text)


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("name", ACTS)
def test_acts(tmp_path: Path, name: str, form: str) -> None:
    cli, told, case = _stored(tmp_path, name == "letters"), [], "nothing"
    key = ""
    with time_machine.travel(NOW, tick=False):
        for act in ACTS[name]:
            words = [word.format(case=case, key=key) for word in act] + (["--json"] if form == "json" else [])
            ran = cli.whatever(*words)
            told.append(f"##### {' '.join(words)}\nends with {ran.code}\n{ran.out}--- beside it:\n{ran.err}")
            key = (re.findall(r"\bmt_([0-9a-f]{16})", ran.out) or [key])[0]
            given = re.search(r'"failureId": "(\w+)"|^([0-9a-f]{32})$', ran.out, re.MULTILINE)
            case = (given[1] or given[2]) if given and act[:2] == ("annotate", "next") else case
    compare(__file__, f"{name}.{form}.txt", _steady("\n".join(told)), ids_of(*TRACES))
