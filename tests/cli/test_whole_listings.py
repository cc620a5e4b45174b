"""All that the reading commands print, as a table, as JSON and as CSV."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest
import time_machine

from store.open import open_database
from tests.attribution.benchmark.sample import write_benchmark
from tests.cli.conftest import Cli, Result
from tests.expected import compare
from tests.fixed_project import NAMES, NOW, PROJECT, QUEUE, RICH, TRACES, write_fixed

ASSISTANT = TRACES[0]
LISTINGS = {
    "operations": ("operations", "--limit", "0"),
    "operations-narrowed": ("operations", "--trace", "assistant", "--kind", "update", "--status", "error"),
    "answers": ("answers",),
    "answers-wrong": ("answers", "--wrong", "--last", "3"),
    "answers-right": ("answers", "--right"),
    "variables": ("variables", "--trace", "assistant"),
    "variables-last": ("variables", "--kind", "query", "--last", "4"),
    "units": ("units", "--trace", "assistant"),
    "messages": ("messages", "--search", "Oslo"),
    "prompts": ("prompts", "--trace", "kinds"),
    "failures": ("failures", "--all-verdicts"),
    "failures-sorted": ("failures", "--sort", "confidence", "--descending", "--limit", "4"),
    "failures-of-type": ("failures", "--type", "ExtractionError", "--trace", "kinds"),
    "blame-operation": ("blame", "--by", "operation"),
    "blame-prompt": ("blame", "--by", "prompt"),
    "blame-session": ("blame", "--by", "session"),
    "blame-unit": ("blame", "--by", "unit"),
    "failures-in-words": ("failures", "retrieval", "error"),
    "operations-last": ("operations", "search", "--last", "2"),
    "answers-in-words": ("answers", "assistant", "oslo"),
    "messages-in-words": ("messages", "said", "a"),
    "units-of-a-trace": ("units", "one"),
    "traces": ("traces",),
    "sessions": ("sessions",),
    "units-ended": ("units", "--ended"),
    "verdict-history": ("labels", "history"),
}
"""Commands that print a list in three forms."""
SHOWN = {
    "trace": ("trace", "assistant"),
    "operation": ("operation", "update", "--trace", "assistant"),
    "variable": ("variable", "note-2", "--trace", "assistant"),
    "variable-long": ("variable", "prompt", "--trace", "assistant"),
    "versions": ("versions", "note-2", "--trace", "assistant"),
    "diff": ("diff", "note-2", "note", "--trace", "assistant"),
    "search": ("search", "Oslo"),
    "closure": ("closure", "answer", "--trace", "assistant"),
    "closure-forward": ("closure", "message-1", "--trace", "assistant", "--direction", "forward", "--max-hops", "2"),
    "path": ("path", "answer", "message-1", "--trace", "assistant"),
    "search-of-a-kind": ("search", "Oslo", "--kind", "message", "--limit", "1"),
    "search-whole": ("search", "matters. Write", "--whole"),
    "trace-short": ("trace", "assistant", "--limit", "2"),
    "why-by-words": ("why", "Where does Mia live?"),
    "why-by-answer": ("why", "answer", "--method", "words"),
    "show-operation": ("show", "extract"),
    "show-failure": ("show", "{failure}"),
    "check": ("check", "assistant"),
    "agreement": ("agreement", "flow", "annotation"),
    "why": ("why", "{failure}"),
    "why-not": ("why-not", "{failure}"),
    "spine": ("spine", "{failure}"),
    "compare-traces": ("compare", "one", "two"),
    "report": ("report",),
    "tables": ("tables",),
    "stats": ("stats", "--trace", "assistant"),
    "verdict": ("verdict", "{failure}", "--history"),
    "retention": ("retention", "show"),
    "queues": ("annotate", "queue", "list"),
    "queue": ("annotate", "queue", "show", QUEUE),
    "disputes": ("annotate", "disputes", QUEUE),
    "keys": ("keys", "list"),
    "rich-trace": ("trace", RICH.name),
    "rich-trace-bare": ("trace", "bare"),
    "rich-operation": ("operation", "broken", "--trace", RICH.name),
    "rich-operation-search": ("operation", "search-age", "--trace", RICH.name),
    "rich-operation-running": ("operation", "answer-open", "--trace", RICH.name),
    "rich-variable": ("variable", "age@1", "--trace", RICH.name),
    "rich-variable-long": ("variable", "value-beyond", "--trace", RICH.name),
    "rich-versions": ("versions", "age of Käthe", "--trace", RICH.name),
    "rich-diff": ("diff", "age@0", "age@2", "--trace", RICH.name),
    "rich-search": ("search", "Käthe", "--limit", "3"),
    "rich-closure": ("closure", "answer-age", "--trace", RICH.name),
    "rich-why": ("why", "{wrong}"),
    "rich-why-of-a-method": ("why", "{wrong}", "--method", "llm"),
    "rich-why-undecided": ("why", "{lost}"),
    "rich-why-not": ("why-not", "{wrong}"),
    "rich-spine": ("spine", "{wrong}"),
    "rich-verdict": ("verdict", "{wrong}", "--history"),
    "rich-check": ("check", RICH.name),
    "rich-agreement": ("agreement", "Ada", "Ben"),
}
"""Commands that show one thing."""
DRAWN = {
    "closure.dot": ("closure", "answer", "--trace", "assistant", "--dot"),
    "closure.mermaid": ("closure", "answer", "--trace", "assistant", "--mermaid"),
    "spine.svg": ("spine", "{failure}", "--svg", "-"),
    "rich-closure.mermaid": ("closure", "answer-age", "--trace", RICH.name, "--mermaid"),
    "rich-closure.dot": ("closure", "answer-age", "--trace", RICH.name, "--dot"),
    "rich-spine.svg": ("spine", "{wrong}", "--svg", "-"),
    "labels.ndjson": ("labels", "export", "-"),
}


@pytest.fixture(scope="module")
def fixed(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """Commands on the fixed project."""
    cli = Cli(f"sqlite:///{tmp_path_factory.mktemp('fixed') / 'test.db'}")

    async def write() -> None:
        async with await open_database(cli.store) as database:
            await write_fixed(database)

    asyncio.run(write())
    return cli


def called(cli: Cli, *arguments: str) -> Result:
    """Call a command on the fixed project, at a fixed time."""
    ids = {"failure": ASSISTANT.failures[0].id, "wrong": RICH.failures[0].id, "lost": RICH.failures[1].id}
    with time_machine.travel(NOW, tick=False):
        return cli.whatever(*(one.format(**ids) for one in arguments), "--project", PROJECT)


def told(result: Result) -> str:
    """The standard output of a command, followed by its standard error."""
    text = result.out + (f"--- beside it:\n{result.err}" if result.err else "")
    return re.sub(r"\b\d+(\.\d+)? (ms|s|seconds)\b", "some seconds", text)


@pytest.mark.parametrize("name", LISTINGS)
def test_a_listing(fixed: Cli, name: str) -> None:
    for form in ("table", "csv"):
        found = called(fixed, *LISTINGS[name], "--format", form)
        compare(__file__, f"{name}.{'txt' if form == 'table' else form}", told(found), NAMES)
    compare(
        __file__, f"{name}.json", json.loads(called(fixed, *LISTINGS[name], "--format", "json").out or "null"), NAMES
    )


@pytest.mark.parametrize("name", SHOWN)
def test_one_thing(fixed: Cli, name: str) -> None:
    names = NAMES | {fixed.store: "the store"}
    compare(__file__, f"{name}.txt", told(called(fixed, *SHOWN[name])), names)
    document = called(fixed, *SHOWN[name], "--json")
    compare(__file__, f"{name}.json", json.loads(document.out) if document.out else told(document), names)


@pytest.mark.parametrize("name", DRAWN)
def test_a_drawing(fixed: Cli, name: str) -> None:
    compare(__file__, f"{name}.txt", told(called(fixed, *DRAWN[name])), NAMES)


def test_a_benchmark(tmp_path: Path) -> None:
    """All that is measured on the sample: three failures and four right answers."""
    path = write_benchmark(tmp_path / "sample")
    cli = Cli("no store is needed")
    for name in ("benchmark", "audit"):
        document = json.dumps(cli.plain(name, path, "--json").json, indent=1, ensure_ascii=False)
        shown = re.sub(r"(seconds a case +).*", r"\1some", told(cli.plain(name, path)))
        for form, text in (("json", document), ("txt", shown)):
            compare(__file__, f"{name}.{form}", text, {str(path): "FILE"})
