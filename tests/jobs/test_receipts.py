"""How a job is told over HTTP, and which requests are the same."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import combinations

import pytest
from pydantic import ValidationError
from starlette.responses import Response

from api.http.jobs import AttributionRequest
from api.http.receipts import accepted, job_id_of, receipt_of
from schema.control import Job, JobKind, JobState

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def job(project: str = "shop", state: JobState = JobState.QUEUED, **more: object) -> Job:
    return Job("j1", project, JobKind.REPORT, state, "{}", NOW, "ada", **more)  # type: ignore[arg-type]


def test_a_key_is_one_job_of_its_project_and_kind() -> None:
    asked = [("shop", kind, "a") for kind in JobKind]
    asked += [("other", JobKind.IMPORT, "a"), ("shop", JobKind.IMPORT, "b")]
    ids = {one: job_id_of(*one) for one in asked}
    assert all(ids[one] != ids[other] for one, other in combinations(asked, 2))
    assert ids == {one: job_id_of(*one) for one in asked}
    assert job_id_of("shop", JobKind.IMPORT, None) is None


@pytest.mark.parametrize(("project", "named"), [("shop", "shop"), ("a&b c/ä", "a%26b%20c%2F%C3%A4")])
def test_the_address_of_an_accepted_job_names_its_project(project: str, named: str) -> None:
    response = Response()
    assert accepted(job(project), response).id == "j1"
    assert response.headers["Location"] == f"/v1/jobs/j1?project={named}"


@pytest.mark.parametrize("state", JobState)
def test_a_result_is_told_whatever_the_end(state: JobState) -> None:
    """A stopped job may have a part of its result."""
    told = receipt_of(job(state=state, result='{"written": 3}', done=3, total=5, error="it broke", attempts=2))
    assert (told.result, told.done, told.total) == ({"written": 3}, 3, 5)
    assert (told.error, told.attempts, told.state) == ("it broke", 2, state)
    assert receipt_of(job(state=state)).result is None


def test_the_first_unknown_members_are_told_and_no_known_one_is_lost() -> None:
    unknown = {f"x{number}": 1 for number in range(30)}
    with pytest.raises(ValidationError) as caught:
        AttributionRequest.model_validate({**unknown, "traceId": 5, "minConfidence": 2})
    places = [one["loc"][0] for one in caught.value.errors()]
    assert sorted(map(str, places)) == sorted(["traceId", "minConfidence", *(f"x{number}" for number in range(10))])
