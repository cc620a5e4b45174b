"""Dead letters in JetStream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import structlog
import zstandard
from nats.js import JetStreamContext
from nats.js import errors as js
from nats.js.api import RawStreamMsg
from nats.js.kv import KeyValue

from ingest.queue.nats.connection import ANSWER_SECONDS, FULL, translated
from ingest.queue.nats.streams import DEAD, LOST_KEY, dead_subject_of
from ingest.queue.protocol import DeadLetter
from schema.errors import NotFoundError

_log = structlog.get_logger("memtrace.nats")
_LEVEL = 3
_KEPT = 2
"""When there is no room, the project with the most letters keeps one in this number of them."""

_CHANGES = 20


async def bury(stream: JetStreamContext, bucket: KeyValue, letter: DeadLetter) -> None:
    """Store a letter; repeated calls with the same letter within two minutes store it once.

    If there is no room, the oldest letters of the project with the most letters are deleted and counted.
    """
    body = zstandard.ZstdCompressor(level=_LEVEL).compress(msgspec.msgpack.encode(letter))
    try:
        await _publish(stream, letter, body)
    except js.APIError as error:
        if error.err_code not in FULL or not await _make_room(stream, bucket):
            raise
        await _publish(stream, letter, body)


async def _publish(stream: JetStreamContext, letter: DeadLetter, body: bytes) -> None:
    await stream.publish(
        dead_subject_of(letter.project_id),
        body,
        timeout=ANSWER_SECONDS,
        stream=DEAD,
        headers={"Nats-Msg-Id": letter.digest.hex()},
    )


async def _make_room(stream: JetStreamContext, bucket: KeyValue) -> bool:
    """Delete letters of the project with the most letters; False if no project has several letters."""
    subjects = (await stream.stream_info(DEAD, subjects_filter=">")).state.subjects or {}
    subject = max(subjects, key=lambda one: subjects[one], default=None)
    if subject is None or subjects[subject] < _KEPT:
        return False
    kept = subjects[subject] // _KEPT
    await stream.purge_stream(DEAD, subject=subject, keep=kept)
    for _ in range(_CHANGES):
        lost, revision = await _lost(bucket)
        lost[subject] = lost.get(subject, 0) + subjects[subject] - kept
        try:
            await bucket.update(LOST_KEY, msgspec.json.encode(lost), last=revision)
        except js.KeyWrongLastSequenceError:
            continue
        break
    _log.warning("dead letters were deleted: there were too many", events=subjects[subject] - kept)
    return True


async def count_lost(bucket: KeyValue, subject: str | None = None) -> int:
    """The number of letters that were deleted for want of room, of one subject or of all."""
    lost, _ = await _lost(bucket)
    return sum(lost.values()) if subject is None else lost.get(subject, 0)


async def _lost(bucket: KeyValue) -> tuple[dict[str, int], int]:
    """The numbers of deleted letters by subject, and the revision of these numbers."""
    try:
        entry = await bucket.get(LOST_KEY)
    except js.KeyNotFoundError:
        return {}, 0
    return msgspec.json.decode(entry.value or b"{}", type=dict[str, int]), entry.revision or 0


class NatsLetters:
    """The dead letters of one project; see ``DeadLetters``."""

    def __init__(self, stream: JetStreamContext, bucket: KeyValue, project_id: str) -> None:
        self._stream = stream
        self._bucket = bucket
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

    async def drop(self, letter_ids: Sequence[int]) -> int:
        """See ``DeadLetters``."""
        dropped = 0
        for letter_id in letter_ids:
            try:
                await self.get(letter_id)
            except NotFoundError:
                continue
            with translated():
                await self._stream.delete_msg(DEAD, letter_id)
            dropped += 1
        return dropped

    async def drop_all(self) -> int:
        """See ``DeadLetters``."""
        count = await self.count()
        with translated():
            await self._stream.purge_stream(DEAD, subject=self._subject)
        return count

    async def count(self) -> int:
        """See ``DeadLetters``."""
        with translated():
            info = await self._stream.stream_info(DEAD, subjects_filter=self._subject)
        return (info.state.subjects or {}).get(self._subject, 0)

    async def lost(self) -> int:
        """See ``DeadLetters``."""
        with translated():
            return await count_lost(self._bucket, self._subject)


def _letter(raw: RawStreamMsg) -> DeadLetter:
    body = raw.data or b""
    if body.startswith(zstandard.FRAME_HEADER):  # letters of earlier versions are not compressed
        body = zstandard.ZstdDecompressor().decompress(body)
    return replace(msgspec.msgpack.decode(body, type=DeadLetter), id=raw.seq)
