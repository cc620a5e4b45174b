"""Names and settings of the queue's streams in JetStream.

``MEMTRACE_EVENTS`` has a subject and a durable consumer per lane; an acknowledged packet leaves the stream.
``MEMTRACE_DEAD`` has a subject per project. ``MEMTRACE_WORKERS`` is a bucket: which worker holds which lanes, and the
number of deleted dead letters by subject.
"""

from __future__ import annotations

from hashlib import sha256

from nats.js import JetStreamContext
from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    DiscardPolicy,
    KeyValueConfig,
    RetentionPolicy,
    StorageType,
    StreamConfig,
)
from nats.js.errors import BucketNotFoundError, NotFoundError
from nats.js.kv import KeyValue

EVENTS = "MEMTRACE_EVENTS"
DEAD = "MEMTRACE_DEAD"
WORKERS = "MEMTRACE_WORKERS"
SHARES_KEY = "lanes"
LOST_KEY = "lost"
ACK_SECONDS = 10.0
"""A packet is handed out again if its worker has not reported for 10 s; workers report every 3 s."""

_DUPLICATES_SECONDS = 120.0
_DEAD_SHARE = 4
"""Dead letters may use 1/4 of the room."""


async def ensure_streams(stream: JetStreamContext, max_bytes: int, replicas: int) -> KeyValue:
    """Create missing streams and the bucket; existing streams keep the administrator's settings."""
    await _ensure(
        stream,
        StreamConfig(
            name=EVENTS,
            subjects=["memtrace.events.*"],
            retention=RetentionPolicy.WORK_QUEUE,
            storage=StorageType.FILE,
            discard=DiscardPolicy.NEW,
            max_bytes=max_bytes,
            num_replicas=replicas,
            allow_direct=True,
        ),
    )
    await _ensure(
        stream,
        StreamConfig(
            name=DEAD,
            subjects=["memtrace.dead.*"],
            retention=RetentionPolicy.LIMITS,
            storage=StorageType.FILE,
            discard=DiscardPolicy.NEW,  # the worker makes room: it knows whose letters to delete
            max_bytes=max_bytes // _DEAD_SHARE,
            num_replicas=replicas,
            duplicate_window=_DUPLICATES_SECONDS,
            allow_direct=True,
        ),
    )
    try:
        return await stream.key_value(WORKERS)
    except BucketNotFoundError:
        return await stream.create_key_value(KeyValueConfig(bucket=WORKERS, replicas=replicas))


async def _ensure(stream: JetStreamContext, config: StreamConfig) -> None:
    assert config.name is not None
    try:
        await stream.stream_info(config.name)
    except NotFoundError:
        await stream.add_stream(config)


def consumer_of(lane: int) -> ConsumerConfig:
    """The settings of a lane's consumer; packets that wait for a next try don't block newer packets."""
    return ConsumerConfig(
        durable_name=f"lane-{lane}",
        filter_subject=subject_of(lane),
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=ACK_SECONDS,
        max_deliver=-1,
        max_ack_pending=-1,
    )


def subject_of(lane: int) -> str:
    """The subject of a lane's packets."""
    return f"memtrace.events.{lane}"


def dead_subject_of(project_id: str) -> str:
    """The subject of a project's dead letters; encoded, because a subject allows fewer characters than a project id."""
    return f"memtrace.dead.{sha256(project_id.encode()).hexdigest()[:32]}"
