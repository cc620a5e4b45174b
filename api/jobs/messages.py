"""The messages between a runner and its child; see ``api.processes.children``."""

from __future__ import annotations

from api.processes.children import Message


class Start(Message, frozen=True):
    """Do this job. The child does one job at a time."""

    job_id: str
    project_id: str
    kind: str
    arguments: str


class Stop(Message, frozen=True):
    """Stop the job as soon as that is safe."""


class Told(Message, frozen=True):
    """The progress of the job."""

    stage: str
    done: int
    total: int


class Done(Message, frozen=True):
    """The job is done; the result is JSON text."""

    result: str


class Refused(Message, frozen=True):
    """The job has failed for good, with the reason for the person who asked."""

    error: str
    is_spent: bool = False
    """Whether the child has used up its memory, so that another child has to do the next job."""


class Stopped(Message, frozen=True):
    """The job was stopped."""


class Broken(Message, frozen=True):
    """The job met an unexpected error, or the store was away; details are in the log. Another attempt may succeed."""

    is_store: bool


End = Done | Refused | Stopped | Broken
ToChild = Start | Stop
FromChild = Told | Done | Refused | Stopped | Broken
