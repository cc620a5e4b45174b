"""Several clients at a time, each sending one request after the other, in a process of their own.

Reads what to ask as JSON on standard input, prints what came of it as JSON.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from typing import Any

import httpx


async def main() -> None:
    """Send requests for the time that was asked for."""
    plan = json.loads(sys.stdin.read())
    taken: dict[str, list[float]] = {name: [] for name in plan["questions"]}
    errors: list[str] = []
    limits = httpx.Limits(max_connections=plan["clients"], max_keepalive_connections=plan["clients"])
    headers = {"Authorization": f"Bearer {plan['key']}"}
    async with httpx.AsyncClient(base_url=plan["url"], headers=headers, limits=limits, timeout=60) as client:
        began = time.perf_counter()
        deadline = began + plan["seconds"]
        await asyncio.gather(
            *(_client(client, plan, number, deadline, taken, errors) for number in range(plan["clients"]))
        )
        seconds = time.perf_counter() - began
    print(json.dumps({"seconds": seconds, "taken": taken, "errors": errors[:20], "failed": len(errors)}))


async def _client(
    client: httpx.AsyncClient,
    plan: dict[str, Any],
    number: int,
    deadline: float,
    taken: dict[str, list[float]],
    errors: list[str],
) -> None:
    chance = random.Random(number)
    names = list(plan["questions"])
    weights = [plan["questions"][name]["weight"] for name in names]
    while time.perf_counter() < deadline:
        name = chance.choices(names, weights)[0]
        question = plan["questions"][name]
        variables = {key: chance.choice(values) for key, values in question["variables"].items()}
        began = time.perf_counter()
        try:
            response = await client.post("/graphql", json={"query": question["document"], "variables": variables})
            body = response.json()
        except (httpx.HTTPError, ValueError) as error:
            errors.append(f"{name}: {type(error).__name__}: {error}")
            continue
        taken[name].append(time.perf_counter() - began)
        if response.status_code != 200 or "errors" in body or body["data"].get("project") is None:
            errors.append(f"{name}: {response.status_code}: {response.text[:300]}")


if __name__ == "__main__":
    asyncio.run(main())
