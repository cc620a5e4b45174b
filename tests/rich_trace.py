"""Two traces in which most conditions are true once and false once, so that whole outputs show both."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from schema.ids import make_id
from schema.kinds import DerivationKind, ErrorType, OperationKind, Origin, QuestionKind, Status, VariableKind
from schema.models import PREVIEW_CHARACTERS, WHOLE_VALUE_BYTES, Operation, Usage, Variable
from tests.factory import START, TraceBuilder

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NAME = "café 東京"
ODD = 'Zoë|<b>"x"</b> [bold]*a*_b_`c`[/bold] 東京 👩‍👧'
"""A name with letters beyond ASCII, wide characters, and marks of HTML, Markdown and the terminal."""


def _json(**said: Any) -> str:
    return json.dumps(said, ensure_ascii=False)


def rich(project: str) -> list[TraceBuilder]:
    """A trace of two users with all kinds of elements, and a trace whose elements have nothing that can be left out."""
    return [_full(project), _bare(project)]


def _full(project: str) -> TraceBuilder:
    trace = TraceBuilder(project, NAME)
    trace.trace = replace(trace.trace, name=ODD, created_at=EPOCH, attributes=_json(users=["Zoë", "李"], empty={}, n=0))
    _talk(trace)
    _questions(trace)
    return trace


def _talk(trace: TraceBuilder) -> None:
    """Messages of two users, units with three versions, and steps that ended in each way."""
    trace.session("talk", created_at=EPOCH, category=None, comment="Zoë’s", attributes=_json(user="Zoë"))
    zoe = _said(trace, "zoe", "Zoë", "My dog Käthe is 3 years old. " + "🐶" * 40, created_at=EPOCH)
    li = _said(trace, "li", "李", "我住在東京。\nMy dog is called Käthe, too.", created_at=None)
    old = _said(trace, "old", "Zoë", "Käthe turned 4.", created_at=EPOCH - timedelta(microseconds=1))
    new = _said(trace, "new", "Zoë", "Käthe is 5 now.")
    prompt = trace.variable("write-prompt", "Note it.\n{message}", kind=VariableKind.PROMPT, name="prompt | *x*")
    for name, size in (("limit", PREVIEW_CHARACTERS), ("beyond", PREVIEW_CHARACTERS + 1)):
        trace.variable(f"preview-{name}", "é" * (size - 1) + "!", kind=VariableKind.OTHER)
    for name, size in (("limit", WHOLE_VALUE_BYTES), ("beyond", WHOLE_VALUE_BYTES + 1)):
        trace.variable(f"value-{name}", "0123456789abcde\n" * 127 + "x" * (size - 2032), kind=VariableKind.OTHER)
    first = trace.operation("note", name="note it", kind=OperationKind.EXTRACTION, category="add", started_at=EPOCH)
    trace.use(first, prompt, zoe, li, role="input")
    age = trace.variable("age@0", "Käthe: 3", by=first, name="age of Käthe", attributes=_json(user="Zoë", score=0))
    trace.derive(age, prompt, zoe, by=first)
    part = trace.operation("inner", kind=OperationKind.EMBEDDING, attributes=_json(parentId=first.id, model="e-1"))
    trace.use(part, age)
    vector = trace.variable("vector", "[0.1,-2]", by=part, kind=VariableKind.EMBEDDING, media_type="application/json")
    trace.derive(vector, age, by=part)
    versions = [age]
    for number, heard in ((1, old), (2, new)):
        change = trace.operation(f"change-{number}", name="change it", attributes=_json(temperature=0.0, model="m|<i>"))
        trace.use(change, prompt, versions[-1], heard)
        text = f"Käthe: {3 + number}"
        more = {"version": number, "revision_of": versions[-1].id, "created_at": None if number == 1 else EPOCH}
        made = trace.variable(f"age@{number}", text, by=change, name="age of Käthe", **more)
        trace.derive(made, versions[-1], by=change, kind=DerivationKind.REVISION, external_id=None, category="kept")
        trace.derive(made, heard, by=change, comment="heard later", created_at=None, attributes=_json(weight=1))
        versions.append(made)
    home = trace.variable("home", "李住在東京", by=first, attributes=_json(user="李"))
    trace.derive(home, li, by=first)
    again = trace.variable("home-again", "李住在東京", by=first, kind=VariableKind.BUFFER, category="copy")
    trace.derive(again, home, by=first)
    bad = trace.operation(
        "broken",
        kind=OperationKind.TOOL,
        status=Status.ERROR,
        comment="näh",
        location="tool.py:0",
        attributes=_json(error={"type": "ValueError", "message": "no “número”\nin line 2"}, parentId=first.id),
    )
    trace.use(bad, home)
    trace.operation("worse", kind=OperationKind.TOOL, status=Status.ERROR, attributes=_json(error="gone"), name=None)
    trace.operation("stopped", status=Status.CANCELLED, kind=OperationKind.SEGMENTATION, session_id=None)
    trace.operation("unknown", status=Status.UNKNOWN, kind=OperationKind.OTHER, started_at=None, ended_at=None)
    delete = trace.operation("forget", kind=OperationKind.DELETION)
    trace.use(delete, home)
    trace.invalidate(delete, home, age)
    trace.operation("clear", kind=OperationKind.DELETION, comment="deletes nothing")


def _said(trace: TraceBuilder, name: str, user: str, text: str, **more: Any) -> Variable:
    more |= {"kind": VariableKind.MESSAGE, "class_name": "Message", "attributes": _json(user=user, role="user")}
    return trace.variable(f"said-{name}", f"{user}: {text}", **more)


def _questions(trace: TraceBuilder) -> None:
    """Right, wrong and unjudged answers, and verdicts of each method."""
    trace.session("questions", name=None, category="search", created_at=None)
    units = {one.external_id: one for one in trace.variables if one.kind is VariableKind.MEMORY_UNIT}
    known = [units["age@2"], units["age@0"], units["home"]]
    asked = [
        _ask(trace, "age", "How old is Käthe?", "Käthe is 4.", known, right=None),
        _ask(trace, "home", "Where does 李 live?", "I don’t know.", [], right=None),
        _ask(trace, "name", "What is the dog called?", "Käthe", known[:1], right=True),
        _ask(trace, "open", "Who asked?", "You | me", known[1:2], right=None),
        _ask(trace, "list", "Which two facts are known?", "Her age", known[:2], right=None),
    ]
    age, home, _, unjudged, several = asked
    assert unjudged[1].right is None
    messages = {one.external_id: one for one in trace.variables if one.kind is VariableKind.MESSAGE}
    li, old, new = (messages[f"said-{name}"] for name in ("li", "old", "new"))
    gold = trace.variable("gold-age", "5", kind=VariableKind.GOLD_ANSWER)
    judge = trace.operation("judge", kind=OperationKind.JUDGE, category="evaluation")
    trace.use(judge, age[1], gold)
    found = trace.variable("judgement", "wrong", by=judge, kind=VariableKind.JUDGEMENT)
    trace.derive(found, age[1], gold, by=judge)
    trace.variable("score", "0", by=judge, kind=VariableKind.SCORE)
    told = {"origin": Origin.JUDGE, "expected_id": gold.id, "evidence_ids": (new.id, old.id), "gold_answers": ("5",)}
    wrong = trace.failure(*age[:2], **told, attributes=_json(category=1))
    golds = ("東京", "Tokyo", "in Tokyo | Japan")
    lost = trace.failure(*home[:2], origin=Origin.USER, evidence_ids=(li.id,), gold_answers=golds, created_at=None)
    both = trace.failure(*several[:2], origin=Origin.ANNOTATION, gold_answers=(), created_at=EPOCH)
    update = next(one for one in trace.operations if one.external_id == "change-2")
    path = [
        {"variableId": new.id, "operationId": None, "link": "start", "quote": "is 5", "holds": True},
        {"variableId": units["age@2"].id, "operationId": update.id, "link": "derivation", "quote": "", "holds": False},
    ]
    losses = [
        _loss("Käthe is 5", ErrorType.UPDATE, update.id, 1.0, path=path),
        _loss("Käthe | 4", ErrorType.RETRIEVAL, home[3].id, 0.5),
        _loss("nobody knows", None, None, 0.0),
        _loss("reached", None, None, 1.0, reached=True),
    ]
    plain = {"errorType": "ResponseError", "operationId": age[2].id, "confidence": 0.25, "reason": "or | so"}
    trace.attribution(
        wrong,
        "flow",
        error_type=ErrorType.UPDATE,
        operation_id=update.id,
        confidence=1.0,
        reason="lost “5” | there",
        evidence=json.dumps(path),
        losses=json.dumps(losses),
        candidates=json.dumps(
            [plain, {**plain, "errorType": "AnnotationError", "operationId": None, "confidence": None}]
        ),
        question_kind=QuestionKind.PLAIN,
        proof=_json(result="refuted", reason="it stays wrong", p0=0.0, p1=1 / 3, draws=3, nullDraws=1),
        attributes=_json(rules=1),
    )
    earlier = {"attributes": _json(goldAnswersHash="b2:0")}
    measured = {"model": "m|1", "tokens": 0, "cost": 0.0, "seconds": 0.0}
    spent = {"model": "m-2", "tokens": 12_345, "cost": 1.25, "seconds": 61.5}
    trace.attribution(
        wrong, "llm", error_type=ErrorType.RESPONSE, operation_id=age[2].id, confidence=0.5, **measured, **earlier
    )
    for author, kind in (("Ada", ErrorType.UPDATE), ("Zoë|<i>", ErrorType.RESPONSE)):
        by = update.id if kind is ErrorType.UPDATE else age[2].id
        person = {
            "author": author,
            "confidence": None,
            "seconds": None,
            "id": make_id("Attribution", wrong.id, "human", author),
        }
        trace.attribution(wrong, "human", error_type=kind, operation_id=by, **person)
    nothing = {"error_type": None, "reason": "the recording has a hole", "confidence": 0.0}
    trace.attribution(lost, "flow", **nothing, candidates=json.dumps([plain]), question_kind=QuestionKind.UNANSWERABLE)
    search = home[3]
    trace.attribution(lost, "agent", error_type=ErrorType.RETRIEVAL, operation_id=search.id, confidence=0.0, **spent)
    trace.attribution(
        both,
        "flow",
        error_type=ErrorType.JUDGE,
        confidence=0.5,
        created_at=None,
        question_kind=QuestionKind.SEVERAL,
        losses=json.dumps(losses[-1:]),
        proof=_json(result="unsettled", reason="1 of 2 runs"),
    )


def _loss(piece: str, kind: ErrorType | None, by: str | None, confidence: float, **more: Any) -> dict[str, Any]:
    told = {"piece": piece, "errorType": kind, "operationId": by, "confidence": confidence, "reason": "so | so"}
    return told | {"reached": False, "path": []} | more


def _ask(
    trace: TraceBuilder, name: str, question: str, answer: str, units: list[Variable], *, right: bool | None
) -> tuple[Variable, Variable, Operation, Operation]:
    """A question with a rewritten query, a search that ranks some units, and the answer; and both operations."""
    query = trace.variable(f"asked-{name}", question, kind=VariableKind.QUERY)
    search = trace.operation(
        f"search-{name}", name="search", kind=OperationKind.RETRIEVAL, attributes=_json(top_k=len(units), filters={})
    )
    refined = trace.variable(f"refined-{name}", f"{question} (new)", by=search, kind=VariableKind.REFINED_QUERY)
    trace.use(search, query, role="query")
    trace.derive(refined, query, by=search)
    reads = []
    for rank, unit in enumerate(units):
        role = "returned" if rank < 2 else "considered"
        trace.usages.append(Usage(search.id, unit.id, role, 1 + rank, (0.0, 1.5, -1.0)[rank]))
        if role == "returned":
            occurrence = 1 + sum(one.external_id == unit.external_id for one in trace.variables)
            more = {"name": unit.name, "version": unit.version, "occurrence": occurrence, "category": "read"}
            reads.append(trace.variable(unit.external_id, trace.text(unit), by=search, **more))
            trace.derive(reads[-1], unit, by=search, kind=DerivationKind.READ)
            trace.derive(reads[-1], refined, by=search)
    result = trace.variable(
        f"found-{name}",
        json.dumps([trace.text(one) for one in reads], ensure_ascii=False),
        by=search,
        kind=VariableKind.RETRIEVAL_RESULT,
        media_type="application/json",
    )
    trace.derive(result, *reads, query, by=search)
    running = name == "open"
    ended: dict[str, Any] = {"status": Status.RUNNING, "ended_at": None} if running else {}
    answering = trace.operation(f"answer-{name}", name="answer", kind=OperationKind.GENERATION, **ended)
    context = trace.variable(f"context-{name}", f"Facts: {trace.text(result)}", by=answering, kind=VariableKind.CONTEXT)
    trace.derive(context, result, by=answering)
    trace.use(answering, query, result)
    more = {"kind": VariableKind.ANSWER, "right": right, "created_at": START + timedelta(days=len(trace.variables))}
    said = trace.variable(f"answer-{name}", answer, by=answering, **more)
    trace.derive(said, query, context, by=answering)
    return query, said, answering, search


def _bare(project: str) -> TraceBuilder:
    trace = TraceBuilder(project, "bare")
    trace.trace = replace(trace.trace, name=None, created_at=None, attributes="{}")
    trace.session("empty")
    nothing: dict[str, Any] = {"session_id": None, "name": None, "category": None, "started_at": None, "ended_at": None}
    step = trace.operation("o", kind=OperationKind.OTHER, status=Status.UNKNOWN, **nothing)
    marker = trace.variable("m", "", kind=VariableKind.MARKER, session_id=None, created_at=None)
    said = trace.variable("a", "", by=step, kind=VariableKind.RESPONSE, session_id=None, created_at=None)
    trace.derive(said, marker, by=step, external_id=None, created_at=None)
    question = trace.variable("q", "?", kind=VariableKind.QUERY, session_id=None, created_at=None)
    failure = trace.failure(question, gold_answers=(), created_at=None, origin=Origin.USER)
    without = {"reason": None, "confidence": None, "seconds": None, "created_at": None, "error_type": None}
    trace.attribution(failure, "flow", **without)
    return trace
