"""Several people at a time who click through pages, each after having looked for a while, in a process of their own.

Reads what to open as JSON on standard input, prints what came of it as JSON.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from typing import Any

import httpx

from benchmarks.processor import processor_seconds

_AGAIN = 4
"""How often each page is opened again, before there are others."""


async def main() -> None:
    """Click for the time that was asked for."""
    plan = json.loads(sys.stdin.read())
    taken: dict[str, list[float]] = {name: [] for name in plan["pages"]}
    errors: list[str] = []
    limits = httpx.Limits(max_connections=plan["people"], max_keepalive_connections=plan["people"])
    headers = {"Cookie": f"{plan['cookie']}={plan['key']}"}
    async with httpx.AsyncClient(base_url=plan["url"], headers=headers, limits=limits, timeout=60) as client:
        alone = {name: [await _alone(client, address, plan["pid"])] for name, address in plan["pages"].items()}
        for name, address in plan["pages"].items():
            alone[name] += [await _alone(client, address, plan["pid"]) for _ in range(_AGAIN)]
        began = time.perf_counter()
        deadline = began + plan["seconds"]
        await asyncio.gather(
            *(_person(client, plan, number, deadline, taken, errors) for number in range(plan["people"]))
        )
        seconds = time.perf_counter() - began
    found = {"seconds": seconds, "taken": taken, "alone": alone, "errors": errors[:20], "failed": len(errors)}
    print(json.dumps(found))


async def _alone(client: httpx.AsyncClient, address: str, pid: int) -> float | None:
    """Seconds of the server's processor time for a page that one person opens while nobody else does anything."""
    before = processor_seconds(pid)
    await client.get(address)
    after = processor_seconds(pid)
    return None if before is None or after is None else after - before


async def _person(
    client: httpx.AsyncClient,
    plan: dict[str, Any],
    number: int,
    deadline: float,
    taken: dict[str, list[float]],
    errors: list[str],
) -> None:
    chance = random.Random(number)
    names = list(plan["pages"])
    await asyncio.sleep(chance.uniform(0, plan["looks"]))
    while time.perf_counter() < deadline:
        name = chance.choice(names)
        began = time.perf_counter()
        try:
            response = await client.get(plan["pages"][name])
        except httpx.HTTPError as error:
            errors.append(f"{name}: {type(error).__name__}: {error}")
            continue
        taken[name].append(time.perf_counter() - began)
        if response.status_code != 200:
            errors.append(f"{name}: {response.status_code}: {response.text[:300]}")
        await asyncio.sleep(chance.uniform(0.5, 1.5) * plan["looks"])


if __name__ == "__main__":
    asyncio.run(main())
