"""The child of ``api.processes.helper``: ``python -m api.processes.helper_child``."""

from __future__ import annotations

import os
import pickle

from api.processes import memory
from api.processes.children import Parent

_NICE = 5
"""The server answers short requests first."""


def main() -> None:
    """Call one function after the other, until the parent is gone. Its first message is the bound on memory."""
    parent = Parent()
    if parent.first is None:
        return
    os.nice(_NICE)
    memory.hold_little()
    memory.bound(parent.first)
    while (data := parent.hear()) is not None:
        reply = _reply(data)
        del data
        parent.send(reply)
        del reply
        memory.give_back()


def _reply(data: bytes) -> bytes:
    """Whether the function returned, with its result or its error."""
    raised: Exception | None = None
    try:
        work, arguments = pickle.loads(data)  # noqa: S301 (from the parent)
        return pickle.dumps((True, work(*arguments)))
    except Exception as error:
        raised = error
    # The frames of the error hold data, perhaps up to the bound: no memory would be left for the reply.
    raised.__traceback__ = raised.__context__ = raised.__cause__ = None
    return pickle.dumps((False, raised))


if __name__ == "__main__":
    main()
