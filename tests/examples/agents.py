"""The agents, recorded into a store, and what their graphs must be."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from uuid import uuid4

from memtrace.events import decode
from memtrace.exporters.memory import MemoryExporter

from attribution.trace.graph import TraceGraph
from examples import buffer_agent, facts_agent, rag_agent
from examples.buffer_agent import agent as _buffer
from examples.buffer_agent import conversation as _buffer_talk
from examples.facts_agent import agent as _facts
from examples.facts_agent import conversation as _facts_talk
from examples.rag_agent import agent as _rag
from examples.rag_agent import conversation as _rag_talk
from examples.shared.talk import NO_FAULT, Fault, Reply, Session
from ingest.events.taking import take_events
from schema.ids import trace_id
from schema.kinds import VariableKind
from schema.models import Operation, Variable
from store.contract.protocol import Database, GraphStore

AT_ONCE = 40
"""Events of a call: a graph comes in many of them."""

GIVEN = {"fact", "message", "messages", "prompt", "question"}
"""Arguments of the agents' steps that say at what a fault happens."""


@dataclass(frozen=True)
class Agent:
    """An agent of the examples."""

    name: str
    module: str
    run: Callable[[Fault, str | None], list[Reply]]
    sessions: tuple[Session, ...]
    faults: tuple[Fault, ...]

    def __str__(self) -> str:
        return self.name


BUFFER = Agent("buffer", buffer_agent.__name__, _buffer.run, _buffer_talk.SESSIONS, _buffer_talk.FAULTS)
RAG = Agent("rag", rag_agent.__name__, _rag.run, _rag_talk.SESSIONS, _rag_talk.FAULTS)
FACTS = Agent("facts", facts_agent.__name__, _facts.run, _facts_talk.SESSIONS, _facts_talk.FAULTS)
AGENTS = BUFFER, RAG, FACTS


@dataclass(frozen=True)
class Kept:
    """What an agent answered, and its graph as a store has it."""

    replies: list[Reply]
    store: GraphStore
    graph: TraceGraph

    @cached_property
    def edges(self) -> dict[str, set[str]]:
        """Sources by target, over derivations of every kind."""
        found = defaultdict(set)
        for variable_id in self.graph.variables:
            for derivation in self.graph.parents(variable_id):
                found[variable_id].add(derivation.source)
        return found

    def of(self, kind: VariableKind) -> list[Variable]:
        """The variables of a kind, in order."""
        return [one for one in self.graph.variables.values() if one.kind is kind]

    def past(self, variable: Variable) -> list[Variable]:
        """All that is reached from a variable, without any bound or condition."""
        reached, waiting = {variable.id}, [variable.id]
        while waiting:
            for source in self.edges.get(waiting.pop(), ()):
                if source not in reached:
                    reached.add(source)
                    waiting.append(source)
        return [self.graph.variables[id_] for id_ in reached]

    def answers(self) -> dict[str, tuple[Variable, Variable]]:
        """By the name of a question: its variable, and the answer whose past contains this question and no other."""
        found = {}
        for answer in self.of(VariableKind.ANSWER):
            (query,) = [one for one in self.past(answer) if one.kind is VariableKind.QUERY]
            assert query.name not in found
            found[query.name] = query, answer
        return found

    def is_acyclic(self) -> bool:
        """Whether no variable is its own source; ``graphlib`` raises where one is."""
        return list(TopologicalSorter(self.edges).static_order()) != []

    async def faulty(self, fault: Fault) -> Operation:
        """Find the faulty operation by its name and arguments."""
        texts = await self.graph.texts(self.graph.variables)
        given = {
            usage.operation_id
            for usage in await self.store.usages(self.graph.trace_id)
            if usage.role in GIVEN and fault.at in texts[usage.variable_id]
        }
        (found,) = [one for one in self.graph.operations.values() if one.name == fault.operation and one.id in given]
        return found


async def keep(database: Database, recorded: MemoryExporter, agent: Agent, fault: Fault = NO_FAULT) -> Kept:
    """Run an agent, and bring its events into a project of their own."""
    replies = await asyncio.to_thread(agent.run, fault, "t")  # the agent runs an event loop of its own
    store = database.project(f"examples-{uuid4().hex}")
    events = [decode(json.dumps(event)) for event in recorded.events]
    for start in range(0, len(events), AT_ONCE):
        assert await take_events(store, events[start : start + AT_ONCE]) == []
    return Kept(replies, store, await TraceGraph.load(store, trace_id(store.project_id, "t")))
