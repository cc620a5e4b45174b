"""The process of ``api.helper.process``: ``python -m api.helper.child BYTES``, with the bound on its memory."""

from __future__ import annotations

import os
import pickle
import signal
import sys

from api import memory
from api.children import framed, read_message
from api.malloc import give_back, hold_little

_NICE = 5
"""The server answers short requests first."""


def main() -> None:
    """Run one function after the other, until the server is gone."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the server says when to stop
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what anybody prints is for the log
    os.nice(_NICE)
    hold_little()
    memory.bound(int(sys.argv[1]))
    # Safe: all that is unpickled comes from the process that started this one.
    while (data := read_message(incoming)) is not None:
        reply = _reply(data)
        del data
        outgoing.write(framed(reply))
        outgoing.flush()
        del reply
        give_back()


def _reply(data: bytes) -> bytes:
    """Whether the function returned, and what it returned or raised."""
    raised: Exception | None = None
    try:
        work, arguments = pickle.loads(data)  # noqa: S301
        return pickle.dumps((True, work(*arguments)))
    except Exception as error:
        raised = error
    # Its frames hold what was read, perhaps up to the bound: there would be no memory to say so.
    raised.__traceback__ = raised.__context__ = raised.__cause__ = None
    return pickle.dumps((False, raised))


if __name__ == "__main__":
    main()
