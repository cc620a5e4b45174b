"""A program whose memory is a list of its own: the abstention names the texts, the place and the decorators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from api.cli.context import Target
from api.cli.run_ended import put_in_store
from attribution.trace.graph import TraceGraph
from attribution.trace.holes import holes
from ingest.files.registry import import_path
from store.open import open_database
from tests.cases.verdicts import PROGRAMS, recorded, tried
from tests.sdk.instruments.running import Run

FACTS = {
    "chain": "The Okonjo family's tandem needs a new chain\nThe Okonjo family's tandem is painted red",
    "fetched": "Mr Okonjo fetches the tandem on 9 July\nPlease call him before that day",
    "Spokes": "Spokes are ordered from Van Loon\nVan Loon has its shop in Ghent",
}


def script(body: dict[str, Any]) -> str:
    task, text = (one["content"] for one in body["messages"])
    if task == "List the facts.":
        return next(facts for word, facts in FACTS.items() if word in text)
    return "The notes do not say when." if "fetched" in text else "From Van Loon."


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return recorded("own_list.py", "mem0-2.2.1", script, tmp_path_factory.mktemp("list"), in_one_trace=True)


async def test_the_abstention_says_what_to_decorate(run: Run, tmp_path: Path) -> None:
    found = await tried(run, tmp_path, "The notes do not say when.", "9 July")
    assert found.blamed is None
    assert "“Mr Okonjo fetches the tandem on 9 July”" in found.verdict.reason
    assert "ask_model (“List the facts.”), and let it return the list of stored texts" in found.verdict.reason
    assert "ask_model (“Answer from the notes.”) and returns them" in found.verdict.reason


async def test_a_check_says_the_same(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "events.ndjson"
    await tried(run, tmp_path, "From Van Loon.", "Ghent")
    async with await open_database(f"sqlite:///{tmp_path / 'checked.db'}") as database:
        store = database.project("checked")
        await import_path(store, path)
        (trace,) = (await store.traces()).items
        (lacks, *_) = await holes(await TraceGraph.load(store, trace.id))
    assert "the program keeps a memory that is not recorded: 2 replies of models came back in later" in lacks.problem
    assert "“The Okonjo family's tandem" in lacks.problem
    assert 'put @memtrace.operation(kind="Extraction", output="MemoryUnit", each=True) above' in lacks.fix


async def test_the_end_of_a_run_leads_to_the_check(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await tried(run, tmp_path, "From Van Loon.", "Ghent")
    await put_in_store(Target(store=f"sqlite:///{tmp_path / 'ended.db'}"), [tmp_path / "events.ndjson"])
    (last,) = [one for one in capsys.readouterr().err.splitlines() if "a memory that is not recorded" in one]
    assert " check " in last


async def test_the_decorated_program_gets_a_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = (PROGRAMS / "own_list.py").read_text("utf-8")
    extraction = '@memtrace.operation(kind="Extraction", output="MemoryUnit", each=True)\ndef learn'
    text = plain.replace("import openai\n", "import memtrace\nimport openai\n").replace("def learn", extraction)
    text = text.replace("def find", '@memtrace.operation(kind="Retrieval")\ndef find')
    text = text.replace("\nfor said in", '\nmemtrace.trace("shop").__enter__()\nfor said in')
    (tmp_path / "decorated.py").write_text(text, "utf-8")
    monkeypatch.setattr("tests.cases.verdicts.PROGRAMS", tmp_path)
    run = recorded("decorated.py", "mem0-2.2.1", script, tmp_path)
    found = await tried(run, tmp_path, "The notes do not say when.", "9 July")
    assert found.said == ("RetrievalError", "Retrieval", "find")
