"""Spines of failures of real traces: small, without cycles, whole, and nothing in them is invented."""

from __future__ import annotations

from pathlib import Path

import pytest

from attribution.run import Options, attribute
from attribution.spine.draw import draw
from attribution.spine.find import spines
from attribution.spine.model import BOXES, LEAST_BOXES
from attribution.verdicts.stored import every_failure, word_on
from attribution.verdicts.verdict import from_attribution
from ingest.files.registry import import_path
from schema.models import Attribution, Derivation, Failure
from store.open import open_database
from store.shared.paging import elements
from tests.attribution.spine.checking import check
from tests.data import SAMPLE, needs_data, trace_files

_SOME = 5
"""Failures of a file."""


def _files() -> list[Path]:
    found = trace_files("bench", "traces")
    return [one for one in found if one.parent.name != "traces" and "-1" in one.name]


def _some(failures: list[Failure]) -> list[Failure]:
    return failures[:: max(1, len(failures) // _SOME)]


async def _check(file: Path, folder: Path) -> None:
    async with await open_database(f"sqlite:///{folder / 'store.db'}") as database:
        store = database.project("spines")
        await import_path(store, file)
        failures = [one for one in await every_failure(store, None) if one.answer_id is not None]
        chosen = _some(failures)
        assert chosen
        bare = await spines(store, chosen)
        async for _ in attribute(store, chosen, Options()):
            pass
        found = await spines(store, chosen)
        tiny = await spines(store, chosen, LEAST_BOXES)
        given = await store.attributions([one.id for one in chosen])
        derivations = {
            trace_id: await elements(store, Derivation, trace_id) for trace_id in {one.trace_id for one in chosen}
        }
        for failure in chosen:
            mine = [one for one in given if one.failure_id == failure.id]
            shown = next((one for one in mine if one.id == found[failure.id].attribution_id), None)
            assert shown is not None
            _check_verdict(shown, failure, mine)
            of_trace = derivations[failure.trace_id]
            check(found[failure.id], failure, from_attribution(shown), of_trace, BOXES)
            check(tiny[failure.id], failure, from_attribution(shown), of_trace, LEAST_BOXES)
            early = next((one for one in mine if one.id == bare[failure.id].attribution_id), None)
            check(bare[failure.id], failure, from_attribution(early) if early else None, of_trace, BOXES)
            drawing = draw(found[failure.id])
            assert len(drawing.boxes) == len(found[failure.id].boxes)


def _check_verdict(shown: Attribution, failure: Failure, mine: list[Attribution]) -> None:
    """Check that the shown verdict says the same as the verdict that counts."""
    counts = word_on(mine, [failure])[shown.failure_id]
    assert (shown.error_type, shown.operation_id) == (counts.error_type, counts.operation_id)


async def test_the_sample(tmp_path: Path) -> None:
    await _check(SAMPLE, tmp_path)


@needs_data
@pytest.mark.parametrize("file", _files(), ids=lambda file: f"{file.parent.name}-{file.name.partition('.')[0]}")
async def test_real_traces(file: Path, tmp_path: Path) -> None:
    await _check(file, tmp_path)
