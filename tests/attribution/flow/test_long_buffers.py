"""Buffers with a version for each message: large values that hardly differ are read once, and not whole."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

import attribution.trace.graph
from attribution.free_pass.flow import FlowPass
from attribution.free_pass.proof_path import problems
from attribution.text import segments
from attribution.text.common import common_end, common_start
from attribution.trace.graph import TraceGraph
from attribution.trace.versions import compared
from attribution.verdicts.verdict import Verdict
from schema.kinds import ErrorType, OperationKind, VariableKind
from schema.models import Failure, Variable
from store.open import open_database
from tests.factory import TraceBuilder

MESSAGES = 60
FACT = "My sister Edda keeps seven goats behind the old mill in Farnholt."


@pytest.mark.parametrize(
    ("left", "right", "start", "end"),
    [
        ("", "", 0, 0),
        ("abc", "abc", 3, 3),
        ("abc", "abd", 2, 0),
        ("xbc", "abc", 0, 2),
        ("aaa", "aaaaa", 3, 3),
        ("äöü€𝄞", "äöü€𝄞!", 5, 0),
    ],
)
def test_what_two_texts_have_in_common(left: str, right: str, start: int, end: int) -> None:
    assert (common_start(left, right), common_end(left, right)) == (start, end)
    assert (common_start(right, left), common_end(right, left)) == (start, end)


def test_a_large_text_is_read_like_any_other_whatever_was_read_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "_KEPT", 50)
    random = Random(3)
    parts = (
        "goats",
        "mill",
        ".",
        ". ",
        "!) ",
        "\n",
        "\\n",
        '", "',
        "}",
        " " * 25,
        "[",
        "2024-03-05T10:00:00 ",
        "7",
        "\n\n",
    )
    text = ""
    for _ in range(60):
        place = len(text) if random.random() < 0.7 else random.randrange(len(text) + 1)
        text = text[:place] + random.choice(parts) + text[place + random.choice((0, 0, 3)) :]
        assert list(segments.passage(text)) == segments._placed(
            text, [(start, segments.sentence(piece)) for start, piece in segments.cut(text)], None
        )
    assert len(text) > 200


async def test_what_the_next_version_left_out(tmp_path: Path) -> None:
    texts = ["one. two.", "one. two. three.", "one. three.", "zero. one. three. four.", "three. four. five.", "other"]
    said = "".join(f"Sentence {number} of a long text. " for number in range(200))
    texts += [said, said.replace("Sentence 77 of a long text. ", "") + "And one that is new."]
    builder = TraceBuilder("left")
    versions: list[Variable] = []
    for number, text in enumerate(texts):
        before = versions[-1].id if versions else None
        versions.append(builder.variable(f"v{number}", text, revision_of=before))
    async with await open_database(f"sqlite:///{tmp_path / 'left.db'}") as database:
        store = database.project("left")
        await builder.write(store)
        found = await compared(store, versions)
    # The first one is in the second; the third in the fourth, which begins with something new.
    assert [bool(one) for one in found] == [False, True, False, True, True, True, True]
    assert " two." in (found[1] or "")
    assert (found[3] or "").startswith("zero. one. ")
    # A sentence was removed and a new sentence added: only the removed sentence and its neighbours count as left out.
    assert "Sentence 77 " in (found[6] or "")
    assert len(found[6] or "") < 300


def buffer_story(change: str) -> tuple[TraceBuilder, dict[str, str], Failure]:
    """A buffer to which each message is added; in the end the fact is there, was dropped, or was changed."""
    random, builder = Random(4), TraceBuilder("buffer")
    words = ["boat", "harbour", "garden", "tree", "bread", "cheese", "lake", "summer", "window", "letter", "road"]
    said = [" ".join(random.choices(words, k=9)).capitalize() + "." for _ in range(MESSAGES)]
    said[5] = FACT
    buffer = builder.variable("buffer-0", "", by=builder.operation("start"))
    content, ids, makers = "", {}, {}
    for number, text in enumerate(said):
        told = json.dumps({"content": text, "name": "Ada"})
        message = builder.variable(f"m{number}", told, kind=VariableKind.MESSAGE)
        add = builder.operation(f"add{number}", kind=OperationKind.UPDATE)
        content += text + "\n"
        if number == 40 and change == "dropped":
            content = content[content.index(FACT) + len(FACT) + 1 :]
        if number == 40 and change == "changed":
            content = content.replace(FACT, "Ada spoke about somebody's animals.")
        after = builder.variable(f"buffer-{number + 1}", content, by=add, revision_of=buffer.id)
        builder.use(add, buffer, message)
        builder.derive(after, buffer, message, by=add)
        buffer = after
        ids[f"m{number}"], makers[f"add{number}"] = message.id, add.id
    failure = builder.wrong_answer(
        "1",
        question="What does Edda keep behind the old mill?",
        read=buffer,
        context=content,
        answer="Chickens, I believe.",
        gold_answers=("Seven goats",),
        evidence_ids=(ids["m5"],),
    )
    return builder, makers, failure


@asynccontextmanager
async def graph_of(builder: TraceBuilder, file: Path) -> AsyncIterator[TraceGraph]:
    async with await open_database(f"sqlite:///{file}") as database:
        store = database.project(builder.project)
        await builder.write(store)
        yield await TraceGraph.load(store, builder.trace.id)


async def attributed(tmp_path: Path, change: str) -> tuple[Verdict, list[str], Sequence[str], dict[str, str]]:
    builder, operations, failure = buffer_story(change)
    async with graph_of(builder, tmp_path / "buffer.db") as graph:
        verdict = await FlowPass().attribute(graph, failure)
        names = [graph.variables[step.variable_id].external_id for step in verdict.path]
        return verdict, names, await problems(verdict, graph), operations


@pytest.mark.parametrize("large", [0, 8_000])
@pytest.mark.parametrize("change", ["dropped", "changed"])
async def test_a_version_that_left_the_fact_out_is_found_among_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, large: int
) -> None:
    monkeypatch.setattr(attribution.trace.graph, "_LARGE", large)
    verdict, names, wrong, operations = await attributed(tmp_path, change)
    assert (verdict.error_type, verdict.operation_id) == (ErrorType.UPDATE, operations["add40"])
    assert names == ["m5", *(f"buffer-{number}" for number in range(6, 42))]
    assert [step.holds for step in verdict.path] == [True] * (len(names) - 1) + [False]
    assert all(step.quote for step in verdict.path[:-1])
    assert wrong == []


async def test_a_fact_that_was_kept_by_all_is_the_answer_s(tmp_path: Path) -> None:
    verdict, _, wrong, operations = await attributed(tmp_path, "kept")
    assert verdict.error_type is ErrorType.RESPONSE
    assert verdict.operation_id not in operations.values()
    assert wrong == []


async def test_a_quote_that_a_version_lost_does_not_pass_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attribution.trace.graph, "_LARGE", 0)
    builder, _, failure = buffer_story("changed")
    async with graph_of(builder, tmp_path / "buffer.db") as graph:
        verdict = await FlowPass().attribute(graph, failure)
        *path, last = verdict.path
        forged = [*path, type(last)(last.variable_id, last.operation_id, last.link, path[-1].quote, True)]
        found = await problems(Verdict(verdict.error_type, verdict.operation_id, 1.0, "", tuple(forged)), graph)
    assert found == [f"step {len(path)}: the quote does not stand in the value"]


def random_story(random: Random) -> tuple[TraceBuilder, Failure]:
    """A buffer that is added to, and now and then loses its beginning, a line, or what was said of the fact.

    Days stand before or after what was said then; what is needed is a word or a day that is told from these.
    """
    builder = TraceBuilder("random")
    words = [*"abcdefghijklmnop"]
    leads, tells_day = random.random() < 0.5, random.random() < 0.5
    fact = "Edda bought seven goats yesterday at the old mill." if tells_day else FACT
    place, count, tidied = random.choice((0, 3, 9)), random.randint(10, 24), random.choice((0.0, 0.5, 1.0))
    noted = random.choice((f"Ada: {fact}", "Seven goats yesterday.", "Number: seven goats"))
    buffer = builder.variable("buffer-0", "", by=builder.operation("start"))
    lines: list[str] = []
    versions, evidence = [buffer], buffer
    for number in range(count):
        adding = builder.operation(f"add{number}", kind=OperationKind.UPDATE)
        sources = [buffer] if random.random() < 0.95 else []
        is_tidied = number > place and random.random() < tidied
        if not is_tidied:
            text = fact if number == place else " ".join(f"{random.choice(words)}{number}word" for _ in range(6)) + "."
            sources.append(builder.variable(f"m{number}", text, kind=VariableKind.MESSAGE))
            evidence = sources[-1] if number == place else evidence
            day = f"[2023-05-{number % 25 + 1:02}T10:00:00]"
            kept = noted if number == place else f"Ada: {text}"
            lines += [day, kept] if leads else [kept, day]
        change = random.random()
        if change < 0.1:
            lines = lines[2:]
        elif change < 0.15 and len(lines) > 2:
            del lines[random.randrange(len(lines))]
        elif change < 0.2:
            lines = [line.replace(noted, "Ada spoke about animals.") for line in lines]
        after = builder.variable(f"buffer-{number + 1}", "\n".join(lines), by=adding, revision_of=buffer.id)
        builder.use(adding, *sources)
        builder.derive(after, *sources, by=adding)
        buffer = after
        versions.append(buffer)
        if random.random() < 0.1:
            read = random.choice(versions)
            reflecting = builder.operation(f"reflect{number}", kind=OperationKind.EXTRACTION)
            builder.use(reflecting, read)
            builder.derive(builder.variable(f"thought-{number}", "x", by=reflecting), read, by=reflecting)
    failure = builder.wrong_answer(
        "1",
        question="When was it at the old mill?" if tells_day else "What does Edda keep?",
        read=buffer,
        context="nothing",
        answer="No idea at all, sorry.",
        gold_answers=(f"{place % 25:02} May 2023" if tells_day and place % 25 else "seven goats",),
        evidence_ids=(evidence.id,),
    )
    return builder, failure


async def test_what_is_left_out_of_the_reading_changes_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(5)
    verdicts = []

    async def unknown(variable_id: str, following: str) -> str | None:
        return None

    monkeypatch.setattr(attribution.trace.graph, "_LARGE", 0)
    for number in range(60):
        builder, failure = random_story(random)
        async with graph_of(builder, tmp_path / f"{number}.db") as graph:
            quick = await FlowPass().attribute(graph, failure)
            whole = await TraceGraph.load(graph.store, graph.trace_id)
            monkeypatch.setattr(whole, "left_out", unknown)
            assert await FlowPass().attribute(whole, failure) == quick
            assert await problems(quick, whole) == await problems(quick, graph)
            verdicts.append(quick.error_type)
    named = Counter(verdicts)
    assert named[ErrorType.UPDATE] > 10
    assert len(named) > 1


async def test_a_value_that_is_gone_is_missed_only_where_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder, _, failure = buffer_story("changed")
    monkeypatch.setattr(attribution.trace.graph, "_LARGE", 0)
    async with graph_of(builder, tmp_path / "buffer.db") as graph:
        verdict = await FlowPass().attribute(graph, failure)
        other = await TraceGraph.load(graph.store, graph.trace_id)
        gone = next(one for one in other.variables.values() if one.external_id == "buffer-50")
        assert gone.value is None
        other.variables[gone.id] = replace(gone, value_hash="0" * len(gone.value_hash))
        assert await problems(verdict, other) == []
