"""Bodies that replace an operation's body in a replay."""

from __future__ import annotations

import copy
from typing import Any

from examples.shared.talk import NO_FAULT


def without_fault(body: Any, agent: Any, *args: Any, **kwargs: Any) -> Any:
    """The result of an agent without a fault; works on a copy, as other calls use the agent at the same time."""
    healthy = copy.copy(agent)
    healthy.fault = NO_FAULT
    value = body(healthy, *args, **kwargs)
    if hasattr(healthy, "count"):
        agent.count = healthy.count
    return value
