"""Whole verdicts of the free pass, with what pages and reports show of them: one file for each kind of error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from attribution.report import html, markdown
from attribution.report.make import make
from attribution.run import Options, attribute
from attribution.spine.draw import svg
from attribution.spine.find import spines
from attribution.why_not.find import why_not
from schema.models import Failure, as_json
from store.contract.protocol import GraphStore
from store.open import open_database
from tests.attribution.flow.stories import Story
from tests.attribution.flow.test_holes import MESSAGES, Agent
from tests.attribution.flow.test_rules import FAULTS
from tests.attribution.report.memory import MADE
from tests.attribution.report.pages import Page
from tests.attribution.why_not import graphs
from tests.expected import compare, ids_of

Told = Callable[[str], tuple[Story, Failure]]


def _rule(fault: Callable[[], tuple[Story, Failure]]) -> Told:
    def told(_: str) -> tuple[Story, Failure]:
        return fault()

    told.__name__ = f"rule-{fault.__name__}"
    return told


def hole_in_search(project: str) -> tuple[Story, Failure]:
    """The search returns what nobody recorded."""
    story = Agent.of(project, *MESSAGES)
    story.store(0, "The user's dog is called Bruno.")
    return story, story.ask_the_unseen("What is the dog called?", "Rufus", "Bruno", '["The user is a baker."]')


def hole_before_answer(project: str) -> tuple[Story, Failure]:
    """The answer derives from no message."""
    story = Agent.of(project, *MESSAGES)
    story.store(0, "The user's dog is called Rufus.")
    question = ("What is the dog called?", "Rufus", "Bruno", '["The user is a baker."]')
    return story, story.ask_the_unseen(*question, joined=False)


def no_evidence(project: str) -> tuple[Story, Failure]:
    """No message says what the gold answer says."""
    story = graphs.story(project, "no-evidence")
    failure = story.ask("Who won the regatta in 1987?", "Marguerite", "Nobody.", [story.store(0, graphs.BIRD)], None)
    return story, failure


def no_answer(project: str) -> tuple[Story, Failure]:
    """The answer is not recorded."""
    story, failure = graphs.retrieval(project)
    story.trace.failures[:] = [replace(failure, answer_id=None, prediction=None)]
    return story, story.trace.failures[0]


def no_gold(project: str) -> tuple[Story, Failure]:
    """Nobody says what would be right."""
    story, failure = graphs.update(project)
    story.trace.failures[:] = [replace(failure, gold_answers=())]
    return story, story.trace.failures[0]


CASES: list[Told] = [
    *(_rule(fault) for fault, _, _ in FAULTS),
    graphs.retrieval,
    graphs.extraction,
    graphs.update,
    graphs.deletion,
    graphs.response,
    graphs.several,
    hole_in_search,
    hole_before_answer,
    no_evidence,
    no_answer,
    no_gold,
]
WAYS = {
    "again": Options(),
    "without gold answers": Options(gold_free=True),
    "without evidence": Options(retrieve_evidence=True),
    "only if sure": Options(min_confidence=0.999),
}
"""Other ways to ask; their files have only what differs from the verdict."""


async def _verdict(store: GraphStore, failure: Failure, options: Options) -> dict[str, Any]:
    (outcome,) = [one async for one in attribute(store, [failure], options)]
    return as_json(replace(outcome.attribution, seconds=0.0, created_at=MADE)) | {"cached": outcome.cached}


@pytest.mark.parametrize("case", CASES, ids=lambda one: one.__name__)
async def test_a_verdict(tmp_path: Path, case: Told) -> None:
    story, failure = case("whole")
    trace = story.trace
    names = ids_of(trace)
    name = case.__name__
    async with await open_database(f"sqlite:///{tmp_path / 'test.db'}") as database:
        store = database.project(trace.project)
        await trace.write(store)
        verdict = await _verdict(store, failure, Options())
        found: dict[str, Any] = {"verdict": verdict}
        for way, options in WAYS.items():
            other = await _verdict(store, failure, options)
            found[way] = {member: value for member, value in other.items() if value != verdict[member]}
        found["whyNot"] = (await why_not(store, [failure]))[failure.id]
        (found["spine"],) = (await spines(store, [failure])).values()
        report = msgspec.structs.replace(await make(store, [failure]), created_at=MADE)
    compare(__file__, f"{name}.json", found, names)
    compare(__file__, f"{name}.md", markdown.render(report), names)
    page = f"{html.render(report)}{svg(found['spine'], 'a spine', standalone=False)}"
    compare(__file__, f"{name}.txt", text_of(page), names)


def text_of(page: str) -> str:
    """What a page says, a line for each piece of text."""
    lines = (" ".join(line.split()) for line in Page(page).text.splitlines())
    return "\n".join(line for line in lines if line) + "\n"
