"""What a proof says it cost."""

from __future__ import annotations

from pathlib import Path

from attribution.trace.graph import TraceGraph
from optimization.proof.bench import Bench, Options, Runs
from optimization.proof.correction import EvidenceCorrector
from optimization.proof.judge import ReplayJudge
from optimization.proof.model import Spent
from optimization.proof.prove import Blame, prove
from optimization.replay.recorded import FailedAnswer
from store.open import open_database
from tests.attribution.flow.stories import Story


async def test_a_proof_costs_only_what_was_spent_since_it_began(tmp_path: Path) -> None:
    """A bench counts all runs for its failure; the second proof on a bench must not contain the cost of the first."""
    story = Story.of("spent", "The parrot is called Humboldt.")
    failure = story.ask("What is the parrot called?", "Humboldt", "I don't know.", [])
    options = Options()
    async with await open_database(f"sqlite:///{tmp_path / 'spent.db'}") as database:
        store = database.project("spent")
        await story.trace.write(store)
        graph = await TraceGraph.load(store, story.trace.trace.id)
        asked, judge = await FailedAnswer.of(graph, failure), await ReplayJudge.of(graph, failure)
        bench = Bench(graph, failure, tmp_path, asked, judge, options, Runs(options), False)
        bench.spent = Spent(runs=5, calls=7, tokens=900, cost=0.25, seconds=1.5)
        proof = await prove(bench, Blame(None, None), EvidenceCorrector())
    assert proof.spent == Spent(runs=0, calls=0, tokens=0, cost=0.0, seconds=0.0)
