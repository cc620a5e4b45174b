"""The folder of a run: finished users are kept, unfinished users start again, and a lock keeps other runs out.

Contents:

* ``run.json``: id of the run, and a hash of its plan.
* ``users/USER/events.ndjson``: events while a user is running.
* ``users/USER/recorded.ndjson``: complete events of a finished user.
* ``users/USER/answers.json``: answers and judgements.
* ``replies/USER/``: replies of models, so that no call is paid twice.
* ``saved/USER/``: copy of a memory outside of the program, from before the first message.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from optimization.harness.datasets.model import Conversation
from optimization.harness.judging import Judgement
from optimization.harness.plan import Answer, Plan, UserRun
from schema.errors import InputError

_PLAIN = re.compile(r"[^\w.-]+", re.ASCII)


class RunFolder:
    """The folder of one run, while it is locked."""

    def __init__(self, plan: Plan, id_: str) -> None:
        self._plan = plan
        self.id = id_

    def trace_id(self, user: str) -> str:
        """The trace id of a user."""
        return f"{self._plan.folder.name}-{self.id}/{user}"[:200]

    def of(self, user: str) -> Path:
        """The folder of a user."""
        return self._plan.folder / "users" / _name(user)

    def replies(self, user: str) -> Path:
        """The folder of models' replies to a user's program."""
        return (self._plan.replies or self._plan.folder / "replies") / _name(user)

    def saved(self, user: str) -> Path:
        """The folder for a copy of an outside memory of the program; deleted when the user is finished."""
        return self._plan.folder / "saved" / _name(user)

    def begin(self, user: str) -> Path:
        """Make an empty folder for an unfinished user."""
        folder = self.of(user)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def finish(self, run: UserRun) -> Path:
        """Store the results of a user, completely or not at all; returns the file of events."""
        folder = self.of(run.user)
        answers = [
            {
                "question": answer.question.id,
                "answer": answer.text,
                "right": answer.judgement.right,
                "score": answer.judgement.score,
                "reason": answer.judgement.reason,
            }
            for answer in run.answers
        ]
        write(folder / "answers.json", {"answers": answers, "calls": run.calls, "tokens": run.tokens})
        recorded = folder / "recorded.ndjson"
        _synced(folder / "events.ndjson").replace(recorded)
        shutil.rmtree(self.saved(run.user), ignore_errors=True)
        return recorded

    def finished(self, conversation: Conversation) -> tuple[Path, UserRun] | None:
        """The file of events and the results of a finished user; None for other users."""
        folder = self.of(conversation.user)
        recorded = folder / "recorded.ndjson"
        if not recorded.exists():
            return None
        questions = {question.id: question for question in conversation.questions}
        said = json.loads((folder / "answers.json").read_text("utf-8"))
        answers = tuple(
            Answer(questions[one["question"]], one["answer"], Judgement(one["right"], one["score"], one["reason"]))
            for one in said["answers"]
        )
        user = conversation.user
        return recorded, UserRun(user, self.trace_id(user), answers, None, said["calls"], said["tokens"])


@contextmanager
def opened(plan: Plan) -> Iterator[RunFolder]:
    """Open and lock the folder of a run, new or to be continued.

    Raises:
        InputError: the folder belongs to another run, or another process has the lock.
    """
    plan.folder.mkdir(parents=True, exist_ok=True)
    with (plan.folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(str(plan.folder), "", "a run is under way in this folder") from None
        about = plan.folder / "run.json"
        if about.exists():
            said = json.loads(about.read_text("utf-8"))
            if said["fingerprint"] != plan.fingerprint():
                raise InputError(
                    str(plan.folder),
                    "run.json",
                    "this folder holds another run (of another program, data set, judge, or with other prompts)",
                )
        else:
            began = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            said = {
                "id": secrets.token_hex(4),
                "fingerprint": plan.fingerprint(),
                "program": plan.program,
                "began": began,
            }
            write(about, said)
        yield RunFolder(plan, said["id"])


def write(path: Path, value: Any) -> None:
    """Write a JSON file, completely or not at all."""
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", "utf-8")
    _synced(unfinished).replace(path)


def _synced(path: Path) -> Path:
    with path.open("rb") as file:
        os.fsync(file.fileno())
    return path


def _name(user: str) -> str:
    """A safe and unique folder name for a user."""
    digest = hashlib.sha256(user.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_PLAIN.sub('-', user)[:60]}-{digest}"
