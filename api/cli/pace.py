"""The pace of a run over a data set: what is done, how fast, and how long the rest will take."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from api.cli.errors import note
from api.cli.progress import progress_bar

if TYPE_CHECKING:
    from optimization.harness.datasets.model import Conversation
    from optimization.harness.plan import Tell

_TELL_SECONDS = 60.0
"""Without a terminal, a line is written this often."""
_UNITS = {"construction": "message", "answers": "question"}


@dataclass(slots=True)
class _Work:
    """Steps of one sort: how many there are, how many are done, and the seconds that the done ones took."""

    total: int
    done: int = 0
    timed: int = 0
    seconds: float = 0.0

    @property
    def each(self) -> float | None:
        """Seconds for one step; None before the first."""
        return self.seconds / self.timed if self.timed else None


@dataclass(slots=True)
class _User:
    """Steps done by one user's program, by stage, and the time of its last step."""

    last: float
    done: dict[str, int] = field(default_factory=dict)


class Pace:
    """Counts messages and questions of all users, and measures the time for each.

    Args:
        conversations: those that are run.
        parallel: the number of users at a time.
        now: a clock in seconds.
    """

    def __init__(
        self, conversations: Sequence[Conversation], parallel: int, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._sizes = {
            one.user: {
                "construction": sum(len(session.messages) for session in one.sessions),
                "answers": len(one.questions),
            }
            for one in conversations
        }
        self._work = {stage: _Work(sum(size[stage] for size in self._sizes.values())) for stage in _UNITS}
        self._parallel = max(1, min(parallel, len(self._sizes)))
        self._now = now
        self._start = now()
        self._users: dict[str, _User] = {}

    def said(self, stage: str, user: str, done: int) -> None:
        """Count a step: ``done`` is how much of the stage is done for the user."""
        now = self._now()
        if stage == "import" and user not in self._users:  # the user was finished by an earlier start
            for kind, work in self._work.items():
                work.done += self._sizes[user][kind]
        one = self._users.setdefault(user, _User(self._start if not self._users else now))
        if stage in self._work:
            before = one.done.get(stage, 0)
            work = self._work[stage]
            if done < before:  # the conversation began again
                work.done -= before
                before = 0
            work.done += done - before
            work.timed += done - before
            work.seconds += now - one.last
            one.done[stage] = done
            one.last = now

    @property
    def done(self) -> int:
        """The number of steps that are done."""
        return sum(work.done for work in self._work.values())

    @property
    def total(self) -> int:
        """The number of all steps."""
        return sum(work.total for work in self._work.values())

    @property
    def seconds_left(self) -> float | None:
        """How long the rest will take; None while nothing is known about it."""
        found = 0.0
        for work in self._work.values():
            left = work.total - work.done
            if left and work.each is None:
                return None
            found += left * (work.each or 0.0)
        return found / self._parallel

    def __str__(self) -> str:
        parts = []
        for stage, unit in _UNITS.items():
            work = self._work[stage]
            rate = "" if work.each is None else f" ({_seconds(work.each)} each)"
            parts.append(f"{work.done:,} of {work.total:,} {unit}s{rate}")
        left = self.seconds_left
        if left is not None and self.done < self.total:
            parts.append(f"about {_time(left)} left")
        return ", ".join(parts)


@contextmanager
def paced(conversations: Sequence[Conversation], parallel: int) -> Iterator[Tell]:
    """Show the pace of a run: as a bar on a terminal, else as a line each minute."""
    pace = Pace(conversations, parallel)
    told = time.monotonic()
    with progress_bar("running") as bar:

        def tell(stage: str, user: str, done: int, total: int) -> None:
            nonlocal told
            pace.said(stage, user, done)
            if bar is not None:
                bar(str(pace), pace.done, pace.total)
            elif time.monotonic() - told >= _TELL_SECONDS:
                told = time.monotonic()
                note(f"{pace}.")
                sys.stderr.flush()

        yield tell


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value < 10 else f"{value:.0f} s"


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 5400:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"
