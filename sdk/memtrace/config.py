"""Settings of the recorder: whether it records, which share of the traces, where events go, and how they are masked.

Nothing is read or opened before the first trace begins, unless ``configure`` is called.
"""

from __future__ import annotations

import os
import shlex
import threading
from collections.abc import Callable, Iterable
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from memtrace import sink, unconnected, undecided
from memtrace.context import forget
from memtrace.faults import report, warn
from memtrace.mistakes import MistakeError, shown

if TYPE_CHECKING:
    from memtrace.exporters.local import LocalExporter
    from memtrace.exporters.prepare import Preparation
    from memtrace.exporters.protocol import Exporter, FlushResult

Redaction = Callable[[str], str]

DEFAULT_VALUE_BYTES = 1_000_000
_OFF = {"0", "false", "no", "off"}

_lock = threading.RLock()
_exporter: Exporter | None = None
_local: LocalExporter | None = None
"""The exporter whose file no warning has named yet."""
_preparation: Preparation | None = None
_sampling = 1.0
_is_configured = False
_enabled: bool | None = None
_is_held = False


def enabled() -> bool:
    """Whether ``MEMTRACE_ENABLED`` lets this process record. The variable is read once."""
    global _enabled  # noqa: PLW0603 (one recorder a process)
    if _enabled is None:
        _enabled = os.environ.get("MEMTRACE_ENABLED", "1").strip().lower() not in _OFF
    return _enabled


def configure(
    endpoint: str | None = None,
    key: str | None = None,
    project: str | None = None,
    *,
    exporter: Exporter | None = None,
    sampling: float | None = None,
    redact: Iterable[Redaction] | Redaction = (),
    max_value_bytes: int = DEFAULT_VALUE_BYTES,
    spool: Path | str | bool | None = None,
) -> None:
    """Say where events go. Arguments that are left out are taken from the environment.

    If neither the arguments nor the environment name a place, events go to a file on this machine. A warning at the
    first trace names the file.

    Args:
        endpoint: address of the platform, such as ``https://memtrace.example`` (``MEMTRACE_ENDPOINT``).
        key: API key with the role writer (``MEMTRACE_API_KEY``).
        project: name of the project (``MEMTRACE_PROJECT``); the default is the project of the key.
        exporter: used in place of the platform: a ``FileExporter``, a ``MemoryExporter`` or an exporter of your own.
        sampling: share of the traces that is recorded, 0 to 1 (``MEMTRACE_SAMPLING``). Services with the same share
            record the same traces.
        redact: one or several functions from text to text that mask every value, comment, error and attribute before
            the event leaves the process; ``memtrace.redact`` has ready-made functions.
        max_value_bytes: longer values are cut, and their events say so.
        spool: folder for events that can't be sent while the platform is away (``MEMTRACE_SPOOL``). The default is a
            folder in the user's state folder. With False, events wait in memory.

    Raises:
        ValueError: An argument can't be used; the message names it.
    """
    global _exporter, _sampling, _is_configured, _local, _preparation  # noqa: PLW0603 (one recorder a process)
    share = _share(sampling)
    if max_value_bytes < 1:
        raise ValueError(f"max_value_bytes must be positive, got {max_value_bytes}")
    masks = _masks(redact)
    if not enabled() or _is_held:
        return
    endpoint = endpoint or os.environ.get("MEMTRACE_ENDPOINT")
    if exporter is None and endpoint:
        from memtrace.exporters.http import HttpExporter

        exporter = HttpExporter(
            endpoint,
            key or os.environ.get("MEMTRACE_API_KEY"),
            project or os.environ.get("MEMTRACE_PROJECT"),
            spool=os.environ.get("MEMTRACE_SPOOL") if spool is None else spool,
        )
    local = None
    if exporter is None:
        from memtrace.exporters.local import LocalExporter

        exporter = local = LocalExporter()
    with _lock:
        previous, _exporter = _exporter, exporter
        unconnected.forget()
        undecided.settle_all()  # into the previous exporter
        undecided.forget()
        forget()  # the new exporter has not received the variables that are known
        _sampling = share
        _local = local
        _is_configured = True
        from memtrace.exporters.background import BackgroundExporter
        from memtrace.exporters.prepare import Preparation

        _preparation = preparation = Preparation(masks, max_value_bytes)
        exporter.prepare_with(preparation)
        # A mask needs the whole value.
        files = exporter.waiting if isinstance(exporter, BackgroundExporter) else None
        sink.set_sink(exporter.export, wants_whole=bool(preparation.redactions), keeps_waiting=files)
    if previous is not None and previous is not exporter:
        previous.close()


def is_ready() -> bool:
    """Whether an exporter is configured. Without ``configure``, the environment is read once."""
    if not _is_configured and enabled():
        with _lock:
            if not _is_configured:
                _configure_from_environment()
    if _local is not None:
        _tell_of_file(_local)
    return _exporter is not None


def is_masked() -> bool:
    """Whether values are masked before they leave the process."""
    return sink.is_whole


def hold() -> None:
    """Make ``configure`` do nothing from now on: a replayed program's own settings are for recording."""
    global _is_held  # noqa: PLW0603 (one recorder a process)
    _is_held = True


def is_recording() -> bool:
    """Whether a trace that begins now would be recorded, sampling aside."""
    return _exporter is not None or not _is_configured


def flush(timeout: float = 5.0) -> FlushResult:
    """Wait until everything that was recorded is sent or kept on disk, at most ``timeout`` seconds.

    Returns:
        How many events of this process were sent, wait in the spool, and were lost.
    """
    from memtrace.exporters.protocol import FlushResult

    if _exporter is None:
        return FlushResult()
    try:
        unconnected.tell()
        undecided.settle_all()
        return _exporter.flush(timeout)
    except Exception as error:
        report("flush", error)
        return FlushResult()


def masked_value(text: str, media_type: str) -> str:
    """The text of a value with the configured masks."""
    return text if _preparation is None else _preparation.masked_value(text, media_type)


def is_sampled(trace_id: str) -> bool:
    """Whether sampling keeps the trace. Only the id decides, so all services keep the same traces."""
    if _sampling >= 1.0:
        return True
    place = int.from_bytes(blake2b(trace_id.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
    return place < _sampling * 2**64


def _configure_from_environment() -> None:
    global _is_configured  # noqa: PLW0603 (one recorder a process)
    try:
        configure()
    except Exception as error:
        report("configuration from the environment", error)
    _is_configured = True


def _tell_of_file(local: LocalExporter) -> None:
    global _local  # noqa: PLW0603 (one recorder a process)
    _local = None
    if os.environ.get("MEMTRACE_RUN"):
        return  # `memtrace run` imports the file when the program ends, and says so
    warn(
        "no endpoint",
        "no platform is configured (MEMTRACE_ENDPOINT, or memtrace.configure(endpoint)): recording to the file %s; "
        "`memtrace import %s` takes it",
        local.path,
        shlex.quote(str(local.path)),
    )


def _masks(redact: object) -> tuple[Redaction, ...]:
    found = tuple(redact) if isinstance(redact, Iterable) and not isinstance(redact, str) else (redact,)
    for one in found:
        if not callable(one):
            raise MistakeError(
                f"redact must be functions from text to text, such as memtrace.redact.emails, got {shown(one)}"
            )
    return found


def _share(sampling: float | None) -> float:
    if sampling is None:
        text = os.environ.get("MEMTRACE_SAMPLING", "").strip()
        try:
            sampling = float(text) if text else 1.0
        except ValueError:
            raise MistakeError(f"MEMTRACE_SAMPLING must be a number from 0 to 1, got {text[:20]!r}") from None
    if not 0.0 <= sampling <= 1.0:
        raise MistakeError(f"sampling must be from 0 to 1, got {sampling}")
    return sampling
