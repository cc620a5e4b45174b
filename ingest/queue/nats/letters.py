"""Dead letters in JetStream."""

from __future__ import annotations

from dataclasses import replace

import msgspec
from nats.js import JetStreamContext
from nats.js import errors as js
from nats.js.api import RawStreamMsg

from ingest.queue.nats.connection import ANSWER_SECONDS, translated
from ingest.queue.nats.streams import DEAD, dead_subject_of
from ingest.queue.protocol import DeadLetter
from schema.errors import NotFoundError


async def bury(stream: JetStreamContext, letter: DeadLetter) -> None:
    """Store a letter; repeated calls with the same letter within two minutes store it once."""
    await stream.publish(
        dead_subject_of(letter.project_id),
        msgspec.msgpack.encode(letter),
        timeout=ANSWER_SECONDS,
        stream=DEAD,
        headers={"Nats-Msg-Id": letter.digest.hex()},
    )


class NatsLetters:
    """The dead letters of one project; see ``DeadLetters``."""

    def __init__(self, stream: JetStreamContext, project_id: str) -> None:
        self._stream = stream
        self._subject = dead_subject_of(project_id)

    async def page(self, after: int = 0, limit: int = 100) -> list[DeadLetter]:
        """See ``DeadLetters``."""
        found: list[DeadLetter] = []
        with translated():
            while len(found) < limit:
                try:
                    raw = await self._stream.get_msg(DEAD, seq=after + 1, subject=self._subject, direct=True, next=True)
                except js.NotFoundError:
                    break
                letter = _letter(raw)
                assert letter.id is not None
                found.append(letter)
                after = letter.id
        return found

    async def get(self, letter_id: int) -> DeadLetter:
        """See ``DeadLetters``."""
        raw = None
        with translated():
            try:
                raw = await self._stream.get_msg(DEAD, seq=letter_id, direct=True) if letter_id > 0 else None
            except js.NotFoundError:
                raw = None
        if raw is None or raw.subject != self._subject:
            raise NotFoundError(str(letter_id), "dead letter")
        return _letter(raw)

    async def drop(self, letter_id: int) -> None:
        """See ``DeadLetters``."""
        try:
            await self.get(letter_id)
        except NotFoundError:
            return
        with translated():
            await self._stream.delete_msg(DEAD, letter_id)

    async def count(self) -> int:
        """See ``DeadLetters``."""
        with translated():
            info = await self._stream.stream_info(DEAD, subjects_filter=self._subject)
        return (info.state.subjects or {}).get(self._subject, 0)


def _letter(raw: RawStreamMsg) -> DeadLetter:
    return replace(msgspec.msgpack.decode(raw.data or b"", type=DeadLetter), id=raw.seq)
