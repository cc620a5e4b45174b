"""The checks of ``doctor`` on a Neo4j database."""

from __future__ import annotations

import re
from typing import Any

from schema.errors import StoreError
from schema.migrations import migrations, too_old
from store.contract.answers import Direction, Health
from store.neo4j.connection import Connection, layout_number
from store.neo4j.migrate import applied_migrations, index_states
from store.values.contract import ValueStore

PRUNING_WALK = "VarLengthExpand(Pruning,BFS,All)"
"""The operator that visits each variable once; other operators follow each path, and there may be 2^500 paths."""

CLOSURE_TEXTS: tuple[tuple[str, Direction | None], ...] = (
    ("closure", Direction.BACKWARD),
    ("closure", Direction.FORWARD),
    ("nearest", Direction.BACKWARD),
    ("nearest", Direction.FORWARD),
    ("pairs_of_closure", None),
)
"""All texts that walk without bounds; templates with each direction."""

_UNLIMITED = frozenset({"0B", "0s", "0", ""})
_LIMITS = "db.memory.transaction.max, dbms.memory.transaction.total.max and db.transaction.timeout"

_NAMED = re.compile(r"(?:CONSTRAINT|INDEX) (\w+) IF NOT EXISTS")
_NO_VALUES = {"roots": [], "root": "", "projectId": "", "hops": 1, "nodes": 1, "until": 1}


async def inspect(connection: Connection, values: ValueStore) -> Health:
    """Version, layout, indexes, the plans of the closures, and the place of the values."""
    await connection.connect()
    ((_, version, edition),) = [row for row in await connection.run("server") if row[0] == "Neo4j Kernel"]
    applied = await applied_migrations(connection)
    states = await index_states(connection)
    plans = {text: await connection.plan(*text, **_NO_VALUES) for text in CLOSURE_TEXTS}
    details: dict[str, Any] = {
        "uri": connection.uri,
        "edition": edition,
        "migrations": [f"{number:04d}_{name}" for number, name in applied.items()],
        "indexes": {name: state for name, state in states.items() if name in _expected_indexes()},
        "closurePlan": plans["closure", Direction.BACKWARD],
    }
    limits, warnings = await _limits(connection)
    details |= {"limits": limits} | ({"warnings": warnings} if warnings else {})
    problem = too_old("neo4j", applied)
    problems = (
        [problem]
        if problem
        else [
            f"migration {migration.number:04d}_{migration.name} is missing: run `memtrace migrate`"
            for migration in migrations("neo4j")
            if migration.number not in applied
        ]
    )
    problems.extend(
        f"migration {number:04d}_{name} is of a newer MemTrace"
        for number, name in applied.items()
        if number > layout_number()
    )
    for name in _expected_indexes():
        if name not in states:
            problems.append(f"index {name} is missing")
        elif states[name] != "ONLINE":
            problems.append(f"index {name} is {states[name].lower()}")
    problems.extend(
        f"{' '.join(filter(None, text))} is not planned as {PRUNING_WALK}"
        for text, plan in plans.items()
        if PRUNING_WALK not in plan
    )
    try:
        await values.check()
    except StoreError as error:
        problems.append(str(error))
    return Health("neo4j", version, details, problems)


async def _limits(connection: Connection) -> tuple[dict[str, str], list[str]]:
    """The server's limits on transactions, and warnings about limits that are not set."""
    try:
        limits: dict[str, str] = dict(await connection.run("limits"))
    except StoreError:
        return {}, [f"the server does not let this user read its settings: check that {_LIMITS} are set"]
    return limits, [
        f"the server has no limit {name}: one query can end the server, or hold it for ever (docs/limits.md)"
        for name, value in limits.items()
        if value in _UNLIMITED
    ]


def _expected_indexes() -> list[str]:
    return [name for migration in migrations("neo4j") for text in migration.statements for name in _NAMED.findall(text)]
