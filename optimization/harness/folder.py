"""The folder of a run: what is finished stays, what is not is done again, and two runs never share it.

run.json                the id of the run, and a hash of what it does
users/USER/events.ndjson     what is being recorded
users/USER/recorded.ndjson   the same, when all of it is there
users/USER/answers.json      answers and judgements
replies/USER/           replies of models, so that nothing is paid for twice
saved/USER/             a memory outside of the program, as it was before anything was said
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
        """The id of the trace of a user."""
        return f"{self._plan.folder.name}-{self.id}/{user}"[:200]

    def of(self, user: str) -> Path:
        """The folder of a user."""
        return self._plan.folder / "users" / _name(user)

    def replies(self, user: str) -> Path:
        """The folder of the replies of models to a user's program."""
        return (self._plan.replies or self._plan.folder / "replies") / _name(user)

    def saved(self, user: str) -> Path:
        """Where the memory of a user's program is kept, if it lies outside of it, until the user is finished."""
        return self._plan.folder / "saved" / _name(user)

    def begin(self, user: str) -> Path:
        """An empty folder for a user, who was not finished."""
        folder = self.of(user)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def finish(self, run: UserRun) -> Path:
        """Keep what was recorded of a user, whole. Gives the file of events."""
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
        """The file of events and the answers of a user who was finished; None if not."""
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
    """The folder of a run, new or to be continued.

    Raises:
        InputError: it belongs to another run, or one is under way in it.
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
    """Write a file of JSON, whole or not at all."""
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", "utf-8")
    _synced(unfinished).replace(path)


def _synced(path: Path) -> Path:
    with path.open("rb") as file:
        os.fsync(file.fileno())
    return path


def _name(user: str) -> str:
    """A name of a folder that no other user has, whatever characters are in it."""
    digest = hashlib.sha256(user.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_PLAIN.sub('-', user)[:60]}-{digest}"
