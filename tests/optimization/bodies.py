"""Bodies that run in place of an operation's, in the process of a replay."""

from __future__ import annotations

import copy
from typing import Any

from examples.shared.talk import NO_FAULT


def without_fault(body: Any, agent: Any, *args: Any, **kwargs: Any) -> Any:
    """What an agent without a fault would do; the agent itself keeps its fault, as other calls run at the same time."""
    healthy = copy.copy(agent)
    healthy.fault = NO_FAULT
    value = body(healthy, *args, **kwargs)
    if hasattr(healthy, "count"):
        agent.count = healthy.count
    return value
