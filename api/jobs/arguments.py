"""The arguments of each kind of job."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, model_validator

from attribution.verdicts.verdict import Method


class _Arguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ImportArguments(_Arguments):
    """An uploaded file to import.

    Attributes:
        upload: the name under which the file waits.
        name: the sender's name of the file, for errors.
        timezone: time zone of times without a zone.
    """

    upload: str
    name: str
    timezone: str = "UTC"


class AttributeArguments(_Arguments):
    """Failures to attribute: the named failures, the failures of a trace, or all failures of the project.

    Attributes:
        failure_ids: ids of failures.
        trace_id: the id of a trace.
        gold_free: work without the gold answers.
        retrieve_evidence: search for the evidence, even if the failure names it.
        min_confidence: verdicts with a lower confidence become abstentions; see ``attribution.run.Options``.
    """

    failure_ids: tuple[str, ...] = Field(default=(), max_length=10_000)
    trace_id: str | None = None
    method: Method = Method.FLOW
    gold_free: bool = False
    retrieve_evidence: bool = False
    min_confidence: float | None = Field(default=None, ge=0, le=1)

    @model_validator(mode="after")
    def _one_choice(self) -> AttributeArguments:
        if self.failure_ids and self.trace_id:
            raise ValueError("name failures or a trace, not both")
        return self


class ReportArguments(_Arguments):
    """The scope of a report.

    Attributes:
        trace_ids: only these traces; if empty, all traces.
        failure_ids: only these failures; if empty, all failures.
        source: the method or author whose verdicts count; None for the newest verdict that is not a person's.
        person: the person who asks. Verdicts that are withheld from this person are left out.
    """

    trace_ids: tuple[str, ...] = Field(default=(), max_length=1000)
    failure_ids: tuple[str, ...] = Field(default=(), max_length=10_000)
    source: str | None = None
    person: str | None = None
