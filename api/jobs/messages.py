"""What a runner and its child say to each other; see ``api.processes.children``."""

from __future__ import annotations

from api.processes.children import Message


class Start(Message, frozen=True):
    """Do this job. One at a time."""

    job_id: str
    project_id: str
    kind: str
    arguments: str


class Stop(Message, frozen=True):
    """Stop the job, as soon as it is certain that it can be stopped."""


class Told(Message, frozen=True):
    """How far the job is."""

    stage: str
    done: int
    total: int


class Done(Message, frozen=True):
    """The job is done: its result, as JSON text."""

    result: str


class Refused(Message, frozen=True):
    """The job has failed for good; says why, in words for the person who asked."""

    error: str
    is_spent: bool = False
    """Whether the child has used up its memory, and another one has to do the next job."""


class Stopped(Message, frozen=True):
    """The job was stopped."""


class Broken(Message, frozen=True):
    """The job met an unexpected error, or the store was away; the log says more. Another attempt may succeed."""

    is_store: bool


End = Done | Refused | Stopped | Broken
ToChild = Start | Stop
FromChild = Told | Done | Refused | Stopped | Broken
