"""EverMind's three clients, unchanged, against a server that speaks their interfaces."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sdk.instruments import scripted_everos
from tests.sdk.instruments.running import Run, check_whole, run
from tests.sdk.instruments.unchanged import EVERYTHING, considered, names, past


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    """Both runs have sent the same requests."""
    folder = tmp_path_factory.mktemp("everos")
    made, paths = [], []
    for instrument in (None, EVERYTHING):
        with scripted_everos.running() as server:
            made.append(
                run(
                    "everos_clients.py",
                    "langchain",
                    model="http://127.0.0.1:9",
                    folder=Path(folder / str(instrument is None)),
                    instrument=instrument,
                    more={"EVEROS_URL": server.url},
                )
            )
            paths.append(sorted(server.paths))
    assert paths[0] == paths[1]
    return made[0], made[1]


def of_user(recorded: Run, name: str) -> Run:
    (trace,) = [event["trace"] for event in recorded.of("trace") if event.get("name") == name]
    return Run(None, [event for event in recorded.events if event["trace"] == trace])


def test_the_program_notices_nothing(runs: tuple[Run, Run]) -> None:
    without, recorded = runs
    assert recorded.said == without.said
    assert recorded.said["failure"] == "InternalServerError"
    assert "failed" not in recorded.errors
    check_whole(recorded)


def test_every_call_is_one_operation_in_the_trace_of_its_memory(runs: tuple[Run, Run]) -> None:
    _, recorded = runs
    assert names(recorded) == {
        "Deletion everos.delete": 1,
        "Deletion everos_cloud.delete": 1,
        "Deletion evermemos.delete": 1,
        "Other everos.flush": 1,
        "Other everos_cloud.flush": 1,
        "Retrieval everos.get": 1,
        "Retrieval everos.search": 10,
        "Retrieval everos_cloud.search": 1,
        "Retrieval evermemos.search": 2,
        "Update everos.add": 9,
        "Update everos_cloud.add": 1,
        "Update evermemos.add": 2,
    }
    assert len({event["trace"] for event in recorded.events}) == 12
    errors = [event for event in recorded.of("operationEnded") if event["status"] == "error"]
    assert [event["error"]["type"] for event in errors] == ["InternalServerError"]


def test_a_search_is_told_with_scores_and_reads_the_units_of_its_user(runs: tuple[Run, Run]) -> None:
    cleo = of_user(runs[1], "everos: user_id=cleo")
    assert [(text, score) for text, score, _ in considered(cleo, "Where does Cleo live?")] == [
        ("cleo said: I live in Lima.", 0.9),
        ("cleo said: I have a cat.", 0.8),
    ]
    for number in range(8):
        user = of_user(runs[1], f"everos: user_id=user{number}")
        (found,) = [event for event in user.variables("MemoryUnit") if event.get("reads")]
        assert found["value"] == f"user{number} said: I live in the town of user{number}."
        assert past(user, found, "Query") == {f"Where does user{number} live?"}


def test_what_is_deleted_by_id_or_for_a_user_ends(runs: tuple[Run, Run]) -> None:
    gone = {
        name: len(of_user(runs[1], name).of("invalidated"))
        for name in ("everos: user_id=cleo", "evermemos: user_id=ann", "everos_cloud: user_id=eva")
    }
    assert gone == {"everos: user_id=cleo": 1, "evermemos: user_id=ann": 1, "everos_cloud: user_id=eva": 1}
