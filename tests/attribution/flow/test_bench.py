"""Faults in recorded traces: how many the free pass names, by which proof, whatever operations are called."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard

from attribution.benchmark.result import Result
from attribution.benchmark.run import Benchmark, run
from attribution.free_pass.proof_path import problems
from attribution.run import Options, attribute
from attribution.trace.graph import TraceGraph
from attribution.verdicts.stored import every_failure
from attribution.verdicts.verdict import Verdict, from_attribution
from ingest.files.registry import import_path
from store.contract.protocol import Database
from store.open import open_database
from tests.data import data_folder, needs_data, trace_files

pytestmark = needs_data

SETS = {
    # folder: part of the cases that must be right, wrongly accused right answers
    "bench": (0.97, 1),
    "bench_reworded": (0.94, 3),
}
SYSTEMS = ["mem0", "rag", "long_context", "evermemos"]
"""Of each, a file; on Neo4j the one whose graph has the most kinds of steps, unless all is done in full."""


@pytest.fixture(scope="module", params=sorted(SETS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
async def measured(name: str) -> Benchmark:
    return await run(trace_files(name), Options())


def is_right(result: Result) -> bool:
    return result.is_type_accepted and result.is_operation_right


def test_faults_are_named(name: str, measured: Benchmark) -> None:
    right, alarms = SETS[name]
    assert measured.errors == []
    assert len(measured.results) == 206
    assert sum(map(is_right, measured.results)) >= right * len(measured.results)
    accused = [one for one in measured.controls if one.verdict.error_type not in {None, "LLMAsAJudgeError"}]
    assert len(measured.controls) == 47
    assert len(accused) <= alarms


def test_every_class_of_every_system_is_found(name: str, measured: Benchmark) -> None:
    cases: Counter[tuple[str, str]] = Counter()
    found: Counter[tuple[str, str]] = Counter()
    for one in measured.results:
        key = Path(one.case.graph_path).parent.name, str(one.case.label and one.case.label.error_type)
        cases[key] += 1
        found[key] += is_right(one)
    missed = {key: (found[key], count) for key, count in cases.items() if found[key] < 0.85 * count}
    if name == "bench":
        assert missed == {}
    else:
        # One case may be missed in a class of few: "collision" is a narrower word than "accident", and no proof of it.
        assert sum(count - right > 1 for right, count in missed.values()) <= 1, missed


def test_no_conversation_is_better_known_than_the_other(measured: Benchmark) -> None:
    shares: dict[str, list[bool]] = defaultdict(list)
    for one in measured.results:
        shares[Path(one.case.graph_path).name].append(is_right(one))
    first, second = (sum(own) / len(own) for own in shares.values())
    assert abs(first - second) <= 0.03


@pytest.fixture(scope="module", params=SYSTEMS)
def small_file(request: pytest.FixtureRequest) -> Path:
    folder = data_folder()
    assert folder is not None
    return folder / "bench" / str(request.param) / "locomo-1.json.zst"


async def _verdicts(database: Database, project: str, path: Path) -> tuple[TraceGraph, dict[str, Verdict]]:
    """Verdicts on the annotated failures of a file, by the external id of the question."""
    store = database.project(project)
    report = await import_path(store, path)
    graph = await TraceGraph.load(store, report.trace_id)
    failures = [one for one in await every_failure(store, report.trace_id) if one.origin == "annotation"]
    found = {}
    async for outcome in attribute(store, failures, Options()):
        found[graph.variables[outcome.failure.question_id].external_id] = from_attribution(outcome.attribution)
    return graph, found


def _named(graph: TraceGraph, verdicts: dict[str, Verdict]) -> dict[str, Any]:
    return {
        question: (
            one.error_type,
            None if one.operation_id is None else graph.operations[one.operation_id].external_id,
            one.confidence,
            one.reason,
            [(step.link, step.quote, graph.variables[step.variable_id].external_id) for step in one.path],
        )
        for question, one in verdicts.items()
    }


async def test_paths_prove_and_names_are_not_looked_at(small_file: Path, tmp_path: Path) -> None:
    async with await open_database(f"sqlite:///{tmp_path / 'bench.db'}") as database:
        graph, verdicts = await _verdicts(database, "as-it-is", small_file)
        wrong = {question: await problems(one, graph) for question, one in verdicts.items()}
        assert {question: found for question, found in wrong.items() if found} == {}
        assert all(one.path for one in verdicts.values() if one.error_type is not None)
        renamed, others = await _verdicts(database, "renamed", _renamed(small_file, tmp_path / "renamed.json"))
        assert _without_names(_named(renamed, others)) == _without_names(_named(graph, verdicts))


def _without_names(named: dict[str, Any]) -> list[Any]:
    return [verdict[:4] + tuple(quote for _, quote, _ in verdict[4]) for _, verdict in sorted(named.items())]


def _renamed(path: Path, to: Path) -> Path:
    """The file with all names of operations and classes and all comments replaced; questions keep their order."""
    raw = msgspec.json.decode(zstandard.ZstdDecompressor().stream_reader(path.read_bytes()).read())
    data = raw["data"]
    operations: dict[str, str] = {}
    classes: dict[str, str] = {}
    for operation in data["operations"]:
        name = operation["op_name"]
        operation["op_name"] = name and operations.setdefault(name, f"step-{len(operations)}")
        operation["comment"] = "nothing"
    keys = {}
    for node in data["nodes"]:
        name, before = node["class_name"], node["full_node_id"]
        node["class_name"] = name and classes.setdefault(name, f"class{len(classes)}")
        node["comment"] = "nothing"
        node["full_name"] = f"{node['class_name']}:{node['name']}" if node["class_name"] else node["name"]
        node["full_node_id"] = keys[before] = f"{node['full_name']}@{node['version']}"
    for edge in data["edges"]:
        edge["comment"] = "nothing"
        for end in ("source_full_node_id", "target_full_node_id"):
            edge[end] = keys[edge[end]]
    for record in data["annotations"]:
        for field in ("query_id", "golden_answers_id", "prediction_id"):
            record[field] = keys[record[field]]
        record["source_evidence_ids"] = [keys[one] for one in record["source_evidence_ids"]]
    data["controls"] = []
    to.write_bytes(msgspec.json.encode(raw))
    return to


@pytest.mark.parametrize("small_file", ["evermemos"], indirect=True)
async def test_both_engines_give_the_same_verdicts(small_file: Path, neo4j_database: Database, tmp_path: Path) -> None:
    async with await open_database(f"sqlite:///{tmp_path / 'bench.db'}") as embedded:
        left = _named(*await _verdicts(embedded, f"verdicts-{tmp_path.name}", small_file))
    assert left == _named(*await _verdicts(neo4j_database, f"verdicts-{tmp_path.name}", small_file))
