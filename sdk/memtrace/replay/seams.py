"""The seams between a program and the outside: model servers, files of its memory, and memories of other kinds.

Outside of a trace that keeps data for replays, each function does nothing and returns its argument.
"""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from memtrace.context import scope
from memtrace.faults import report
from memtrace.folders import make_private_folder
from memtrace.replay.keeping import source_hash
from memtrace.replay.snapshots import PathSnapshot, Snapshot

if TYPE_CHECKING:
    from memtrace.replay.proxy import Proxy

P = TypeVar("P", str, Path)

_OPENAI = "https://api.openai.com/v1"
_lock = threading.Lock()
_recording: dict[Path, Proxy] = {}
"""The proxies of this process, by the folder of the trace."""
_replay: tuple[Path, Proxy, Path] | None = None
"""In a replay: the trace's folder, the proxy, and the folder of files that this replay may change."""


def begin_replay(folder: Path, proxy: Proxy, scratch: Path) -> None:
    """Make this process replay the trace of a folder; changed files are in ``scratch``."""
    global _replay  # noqa: PLW0603 (one replay a process)
    _replay = folder, proxy, scratch


changed: list[str] = []
"""Modules of this replay whose source has changed since the recording."""


def same_source(module: str, source: str | None) -> None:
    """Note a module whose source differs from the recorded hash (``keeping.source_hash``)."""
    if source is not None and source != source_hash(module) and module not in changed:
        changed.append(module)


def model_url(upstream: str | None = None) -> str:
    """An address in place of a model server's, so that replies are kept, and repeated in replays.

    Call this function inside the trace. The address works with any client library that takes a base URL.

    Args:
        upstream: the server's base URL; the default is ``OPENAI_BASE_URL``, or OpenAI's URL.
    """
    upstream = upstream or os.environ.get("OPENAI_BASE_URL") or _OPENAI
    if _replay is not None:
        return _replay[1].url_of(upstream)
    kept = _kept()
    if kept is None:
        return upstream
    try:
        from memtrace.replay.proxy import Proxy
        from memtrace.replay.replies import REPLIES, Replies

        with _lock:
            if kept not in _recording:
                proxy = Proxy(Replies(kept / REPLIES, "record"))
                proxy.start()
                _recording[kept] = proxy
            return _recording[kept].url_of(upstream)
    except Exception as error:
        report("proxy that keeps replies of models", error)
        return upstream


def state(name: str, snapshot: Snapshot) -> None:
    """Keep the current content of a memory; in a replay, restore the content at this point of the recording.

    Args:
        name: a name for the memory, unique in the trace.
        snapshot: saves and restores the memory.
    """
    if _replay is not None:
        snapshot.restore(_replay[0] / "state" / name)
        return
    kept = _kept()
    if kept is None:
        return
    try:
        place = kept / "state" / name
        if not place.exists():
            keep(snapshot, place)
    except Exception as error:
        report("snapshot of a memory", error)


def place(path: P) -> P:
    """The path of the file or folder of a memory; the program opens the path afterwards.

    While recording, a copy is kept, and the path is returned unchanged. In a replay, the path of a new copy is
    returned.
    """
    name = Path(path).name
    if _replay is not None:
        folder, _, scratch = _replay
        kept_copy = folder / "state" / name
        own = scratch / name
        if not own.exists() and kept_copy.exists():
            PathSnapshot(own).restore(kept_copy)
        return type(path)(own)
    state(name, PathSnapshot(Path(path)))
    return path


def keep(snapshot: Snapshot, target: Path) -> None:
    """Save a memory in a new folder, which appears whole or not at all."""
    make_private_folder(target.parent)
    unfinished = target.with_name(f"{target.name}.{os.getpid()}.unfinished")
    unfinished.mkdir(mode=0o700)
    try:
        snapshot.save(unfinished)
        unfinished.rename(target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _kept() -> Path | None:
    here = scope.get()
    return None if here is None else here.trace.kept
