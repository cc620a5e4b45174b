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
        name: what the sender calls the file; it stands in errors.
        timezone: of times that don't name one.
    """

    upload: str
    name: str
    timezone: str = "UTC"


class AttributeArguments(_Arguments):
    """Failures to attribute: those that are named, or those of a trace, or all of the project where neither is.

    Attributes:
        failure_ids: ids of failures.
        trace_id: the id of a trace.
        gold_free: do without the gold answers.
        retrieve_evidence: find the evidence, also where it is given.
        min_confidence: verdicts that are less sure are abstentions; see ``attribution.run.Options``.
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
    """What a report is about.

    Attributes:
        trace_ids: only these traces; all where it is empty.
        failure_ids: only these failures; all where it is empty.
        source: whose verdicts count, a method or an author; None is the newest that is not a person's.
        person: who asks: what is withheld from them is not in it.
    """

    trace_ids: tuple[str, ...] = Field(default=(), max_length=1000)
    failure_ids: tuple[str, ...] = Field(default=(), max_length=10_000)
    source: str | None = None
    person: str | None = None
