"""What the free pass keeps of its look-ups is what looking up anew gives."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from random import Random

from attribution.text.lexicon import Alike, likeness
from attribution.trace.graph import TraceGraph
from schema.kinds import VariableKind
from schema.models import Variable
from store.open import open_database
from tests.factory import TraceBuilder

STEMS = [
    *("boat", "ship", "vessel", "harbour", "port", "car", "automobil", "dog", "puppi", "cat", "kitten", "doctor"),
    *("physician", "nurs", "happi", "glad", "sad", "buy", "purchas", "travel", "journey", "trip", "meal", "dinner"),
    *("blue", "green", "red", "garden", "flower", "rose", "tree", "forest", "river", "lake", "swim", "run", "walk"),
    *("qwertz", "mara"),
]


def test_what_is_alike_grows_with_the_known_words() -> None:
    for seed in range(20):
        random, alike = Random(seed), Alike()
        known: set[str] = set()
        for _ in range(6):
            more = random.sample(STEMS, 8)
            alike.add(more)
            known.update(more)
            for asked in random.sample(STEMS, 15):
                assert alike.to(asked) == {one: how for one in known if (how := likeness(asked, one))}
        assert alike.size == len(known)


async def test_what_is_reached_is_what_a_walk_finds(tmp_path: Path) -> None:
    """Lines of many steps, variables that lead into one other, and ways that part and meet."""
    random, builder = Random(5), TraceBuilder("reached")
    step = builder.operation("step")
    variables = [builder.variable(f"v{number}", str(number), kind=VariableKind.MESSAGE) for number in range(60)]
    sources: dict[str, set[str]] = {one.id: set() for one in variables}
    for number, variable in enumerate(variables[1:], 1):
        last = range(number - 1, number) if number < 25 else range(number)
        for place in random.sample(last, min(len(last), random.randint(0 if number > 25 else 1, 2))):
            builder.derive(variable, variables[place], by=step)
            sources[variable.id].add(variables[place].id)
    targets = {one: {other for other, of in sources.items() if one in of} for one in sources}
    async with await open_database(f"sqlite:///{tmp_path / 'reached.db'}") as database:
        store = database.project("reached")
        await builder.write(store)
        graph = await TraceGraph.load(store, builder.trace.id)
    for _ in range(2):  # what is kept is what was found
        for roots in [*([one] for one in sources), *(random.sample(list(sources), 2) for _ in range(20))]:
            assert graph.past(roots) == _walk(roots, sources)
            assert graph.future(roots) == _walk(roots, targets)
    assert max(len(graph.future([one])) for one in sources) > 25


async def test_what_is_reached_along_long_chains_is_what_a_walk_finds(tmp_path: Path) -> None:
    """Versions of buffers that lead from one to the next, now and then not, and into each other; each makes units."""
    random, builder = Random(6), TraceBuilder("chains")
    step = builder.operation("step")
    sources: dict[str, set[str]] = {}
    buffers: list[list[Variable]] = [[], [], []]
    for number in range(700):
        place = number % 3
        chain = buffers[place]
        before = chain[-1] if chain else None
        past = before and before.id
        version = builder.variable(f"buffer{number}", str(number), kind=VariableKind.BUFFER, revision_of=past)
        unit = builder.variable(f"unit{number}", f"u{number}", kind=VariableKind.MEMORY_UNIT)
        of = [before] if before is not None and random.random() < 0.98 else []
        of += random.sample([one for some in buffers for one in some], 1) if chain and random.random() < 0.05 else []
        sources[version.id], sources[unit.id] = {one.id for one in of}, {version.id}
        for one in {one.id: one for one in of}.values():
            builder.derive(version, one, by=step)
        builder.derive(unit, version, by=step)
        chain.append(version)
    targets: dict[str, set[str]] = {id_: set() for id_ in sources}
    for target, some in sources.items():
        for source in some:
            targets[source].add(target)
    async with await open_database(f"sqlite:///{tmp_path / 'chains.db'}") as database:
        store = database.project("chains")
        await builder.write(store)
        graph = await TraceGraph.load(store, builder.trace.id)
    assert sorted(map(len, (graph.versions(chain[0].id) for chain in buffers))) == [233, 233, 234]
    for _ in range(2):
        for root in random.sample(list(sources), 150):
            assert graph.past([root]) == _walk([root], sources)
            assert graph.future([root]) == _walk([root], targets)
    assert max(len(graph.future([one])) for one in sources) > 300


def _walk(roots: Iterable[str], edges: dict[str, set[str]]) -> set[str]:
    found = set(roots)
    while more := {other for one in found for other in edges[one]} - found:
        found |= more
    return found
