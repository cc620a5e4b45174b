"""One thread in which all exports of a process do what takes the interpreter for long.

Encoding a span of megabytes is one call that no other thread interrupts. Twenty exports with a thread each would make
every request wait for twenty such calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

_Result = TypeVar("_Result")


async def in_turn(work: Callable[..., _Result], *arguments: object) -> _Result:
    """Call a function in the thread of exports, after the calls that came before."""
    return await asyncio.get_running_loop().run_in_executor(_thread(), work, *arguments)


@cache
def _thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="exports")
