"""Which files a command line names, and which words in a graph file mark a deletion."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ingest.files.opening import STANDARD_INPUT
from ingest.files.registry import find_files, import_path
from ingest.files.smartcomment.leftover import file_of
from schema.errors import InputError
from schema.models import Trace
from store.contract.answers import Label
from store.open import open_database
from tests.graph_files import GraphFile


def test_files_folders_and_standard_input(tmp_path: Path) -> None:
    for name in ("b.json", "a.json.gz", "inside/c.ndjson", "readme.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    named = tmp_path / "readme.txt"
    assert find_files([STANDARD_INPUT, named]) == [STANDARD_INPUT, named]
    found = [path.relative_to(tmp_path).as_posix() for path in find_files([tmp_path])]
    assert found == ["a.json.gz", "b.json", "inside/c.ndjson"]


@pytest.mark.parametrize(
    ("name", "told"), [("none", "does not exist"), ("empty", "holds no file of a trace"), ("pipe", "neither a file")]
)
def test_paths_without_files_are_named(tmp_path: Path, name: str, told: str) -> None:
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match=told) as refused:
        find_files([tmp_path / name])
    assert refused.value.source == str(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "class_name", "comment", "is_deletion"),
    [
        ("DELETED", None, None, True),
        ("was Removed", None, None, True),
        ("gone", "Deletion", None, True),
        ("gone", None, "a unit is removed", True),
        ("gone", None, None, False),
    ],
)
async def test_a_marker_ends_a_unit_if_its_words_say_so(
    tmp_path: Path, text: str, class_name: str | None, comment: str | None, is_deletion: bool
) -> None:
    graph = GraphFile()
    graph.session("memory_construction")
    message = graph.variable("m", "hello", "message")
    unit = graph.variable("unit", "a fact", "memory_entry")
    graph.operation("memory_system.extract", "extraction", ([message], unit))
    marker = graph.variable("mark", text, "marker", class_name)
    graph.nodes[marker]["comment"] = comment
    graph.operation("memory_system.forget", "update", ([unit], marker))
    async with await open_database(f"sqlite:///{tmp_path / 'test.db'}") as database:
        store = database.project("marks")
        report = await import_path(store, graph.write(tmp_path / "graph.json"))
        ended = await store.invalidations(report.trace_id)
        (trace,) = await store.get(Label.TRACE, [report.trace_id])
    assert len(ended) == is_deletion
    assert isinstance(trace, Trace)
    assert file_of(trace.attributes) == "graph"


@pytest.mark.parametrize("attributes", ["{}", '{"smartcomment": 1}', '{"smartcomment": {"file": 1}}'])
def test_a_trace_of_no_file(attributes: str) -> None:
    assert file_of(attributes) is None
