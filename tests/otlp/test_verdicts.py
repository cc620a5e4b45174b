"""Programs that send their spans with OpenTelemetry's own SDK: their graph, and what is said of a wrong answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Tracer

from attribution.free_pass.flow import FlowPass
from attribution.free_pass.proof_path import problems
from attribution.trace.advice import advised
from attribution.trace.graph import TraceGraph
from attribution.trace.holes import holes
from attribution.verdicts.verdict import Verdict
from ingest.events.feedback import Complaint, record_failure
from ingest.events.questions import questions_of
from schema.ids import trace_id
from schema.kinds import ErrorType, VariableKind
from schema.models import Variable
from store.shared.paging import elements
from tests.otlp.conftest import Takes
from tests.otlp.spans import Sent, protobuf

ASKED = "Which seat did I book on the night train?"


def search(tracer: Tracer, *found: str) -> None:
    with tracer.start_as_current_span("execute_tool recall_bookings") as span:
        span.set_attribute("gen_ai.operation.name", "execute_tool")
        span.set_attribute("gen_ai.tool.name", "recall_bookings")
        span.add_event("gen_ai.tool.message", {"content": json.dumps({"about": "night train"})})
        span.add_event("gen_ai.choice", {"message": json.dumps(list(found))})


def chat(tracer: Tracer, system: str, answer: str) -> None:
    with tracer.start_as_current_span("chat") as span:
        span.set_attribute("gen_ai.operation.name", "chat")
        span.add_event("gen_ai.system.message", {"content": system})
        span.add_event("gen_ai.user.message", {"content": ASKED})
        span.add_event("gen_ai.choice", {"message": json.dumps({"role": "assistant", "content": answer})})


def asks_a_tool(tracer: Tracer, answer: str) -> None:
    """A program calls the tool itself, without a span; the number of its call is the right answer by chance."""
    call = {"id": "call 61", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    asked = {"role": "assistant", "content": None, "tool_calls": [call]}
    for said in (asked, {"role": "assistant", "content": answer}):
        with tracer.start_as_current_span("chat") as span:
            span.set_attribute("gen_ai.operation.name", "chat")
            span.add_event("gen_ai.user.message", {"content": ASKED})
            if said is not asked:
                span.add_event("gen_ai.assistant.message", {"content": "", "tool_calls": json.dumps([call])})
                span.add_event("gen_ai.tool.message", {"content": "[]"})
            span.add_event("gen_ai.choice", {"message": json.dumps(said)})


def missed(tracer: Tracer, answer: str) -> None:
    """The search finds another booking."""
    search(tracer, "A table for two on Friday.")
    chat(tracer, "Known: A table for two on Friday.", answer)


def misread(tracer: Tracer, answer: str) -> None:
    """The search finds the booking, and the model says another seat."""
    search(tracer, "On the night train: seat 61, by the window.")
    chat(tracer, "Known: On the night train: seat 61, by the window.", answer)


def numbered(tracer: Tracer, answer: str) -> None:
    """The search finds nothing about the train. The number of the seat is in the prompt, about something else."""
    search(tracer, "A table for two on Friday.")
    chat(tracer, "Known: A table for two on Friday. Shelf 61 has the maps.", answer)


def told(tracer: Tracer, *replies: str) -> None:
    """An earlier turn of the conversation, in which the user tells the seat; each reply is a call of a model."""
    said = "On the night train I booked seat 61."
    with tracer.start_as_current_span("invoke_agent") as agent:
        agent.set_attributes({"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": "c7"})
        agent.add_event("gen_ai.user.message", {"content": said})
        for reply in replies:
            with tracer.start_as_current_span("chat of the first turn") as span:
                span.set_attribute("gen_ai.operation.name", "chat")
                span.add_event("gen_ai.user.message", {"content": said})
                span.add_event("gen_ai.choice", {"message": json.dumps({"role": "assistant", "content": reply})})
        agent.add_event("gen_ai.choice", {"message": replies[-1]})


def forgot(tracer: Tracer, answer: str) -> None:
    """The program sends the last message only."""
    chat(tracer, "Be kind.", answer)


def misnoted(tracer: Tracer, answer: str) -> None:
    """The search finds what the model had noted at the earlier turn."""
    search(tracer, "The user booked a night train.")
    chat(tracer, "Known: The user booked a night train.", answer)


def found_nothing(tracer: Tracer, answer: str) -> None:
    """The search finds nothing at all."""
    search(tracer)
    chat(tracer, "Nothing is known.", answer)


def found_whole(tracer: Tracer, answer: str) -> None:
    """The search finds a sentence that tells all that the question names."""
    search(tracer, "On the night train I booked seat 61.")
    chat(tracer, "Known: On the night train I booked seat 61.", answer)


def found_in_part(tracer: Tracer, answer: str) -> None:
    """The search finds a sentence that may be about another train."""
    search(tracer, "A seat on the train is booked: 61.")
    chat(tracer, "Known: A seat on the train is booked: 61.", answer)


async def verdict(
    takes: Takes,
    program: Callable[[Tracer, str], None],
    answer: str,
    earlier: Sequence[str] = (),
    gold: str = "Seat 61",
) -> tuple[Verdict, TraceGraph]:
    """The verdict on the answer of a program's agent.

    Args:
        takes: takes the spans.
        program: what the agent does.
        answer: the wrong answer.
        earlier: the replies of an earlier turn.
        gold: the right answer.
    """
    takes.anew()
    kept = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource.create({"service.name": "travel"}), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    tracer = provider.get_tracer("tests")
    if earlier:
        told(tracer, *earlier)
    with tracer.start_as_current_span("invoke_agent") as agent:
        agent.set_attributes({"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": "c7"})
        agent.add_event("gen_ai.user.message", {"content": ASKED})
        program(tracer, answer)
        agent.add_event("gen_ai.choice", {"message": answer})
    await takes.take(encode_spans(kept.get_finished_spans()).SerializeToString())
    await takes.written()
    id_ = trace_id(takes.project, "travel: c7")
    answered = (await elements(takes.store, Variable, id_, [VariableKind.ANSWER.value]))[-1]
    ((asked,),) = (await questions_of(takes.store, [answered])).values()
    failure = await record_failure(takes.store, Complaint(asked.id, answered.id, (gold,)), "tests")
    graph = await TraceGraph.load(takes.store, id_)
    return await FlowPass().attribute(graph, failure), graph


@pytest.mark.parametrize(
    ("program", "answer", "error_type", "operation"),
    [
        (missed, "I know of no such booking.", ErrorType.RETRIEVAL, "execute_tool recall_bookings"),
        (misread, "You booked seat 16.", ErrorType.RESPONSE, "chat"),
    ],
)
async def test_what_was_read_decides_where_no_message_is_recorded(
    takes: Takes,
    program: Callable[[Tracer, str], None],
    answer: str,
    error_type: ErrorType,
    operation: str,
) -> None:
    found, graph = await verdict(takes, program, answer)
    assert found.error_type is error_type
    assert graph.operations[found.operation_id or ""].name == operation
    assert found.confidence < 0.9 or error_type is ErrorType.RESPONSE


@pytest.mark.parametrize(
    ("program", "earlier", "wanted", "reason"),
    [
        (forgot, ["Noted."], (ErrorType.DELETION, "chat"), "no longer in the prompt"),
        (
            misnoted,
            [json.dumps({"tool": "note", "text": "The user booked a night train."}), "Noted."],
            (ErrorType.EXTRACTION, "chat of the first turn"),
            "what the model wrote into the memory at this turn does not have it",
        ),
        (missed, ["Noted."], (None, None), "an earlier turn of the user tells it"),
        # A program that searches keeps a memory, and sends no history.
        (found_nothing, ["Noted."], (None, None), "an earlier turn of the user tells it"),
    ],
)
async def test_what_the_user_told_at_an_earlier_turn_is_followed(
    takes: Takes,
    program: Callable[[Tracer, str], None],
    earlier: Sequence[str],
    wanted: tuple[ErrorType | None, str | None],
    reason: str,
) -> None:
    found, graph = await verdict(takes, program, "I know of no such booking.", earlier)
    blamed = None if found.operation_id is None else graph.operations[found.operation_id].name
    assert (found.error_type, blamed) == wanted
    assert reason in found.reason
    assert "memtrace.variable" not in found.reason
    assert "capture the contents" not in found.reason
    assert await problems(found, graph) == []


@pytest.mark.parametrize(
    ("program", "error_type", "reason"),
    [
        (found_whole, ErrorType.ANNOTATION, "tells the given answer"),
        (found_in_part, None, "or the gold answer is wrong"),
    ],
)
async def test_a_result_that_tells_the_given_answer_excuses_the_search(
    takes: Takes, program: Callable[[Tracer, str], None], error_type: ErrorType | None, reason: str
) -> None:
    found, graph = await verdict(takes, program, "You booked seat 61.", gold="Seat 16")
    assert (found.error_type, found.operation_id) == (error_type, None)
    assert reason in found.reason
    assert await problems(found, graph) == []


async def test_an_answer_in_other_words_is_right_without_messages(takes: Takes) -> None:
    found, _ = await verdict(takes, missed, "For 14 days.", gold="two weeks")
    assert found.error_type is ErrorType.JUDGE


def noted(tracer: Tracer, said: str, note: str) -> None:
    """A turn of which a model writes a note, without saying that the note was stored."""
    with tracer.start_as_current_span("invoke_agent") as agent:
        agent.set_attributes({"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": "c7"})
        agent.add_event("gen_ai.user.message", {"content": said})
        with tracer.start_as_current_span("chat of a note") as span:
            span.set_attribute("gen_ai.operation.name", "chat")
            span.add_event("gen_ai.user.message", {"content": said})
            span.add_event("gen_ai.choice", {"message": json.dumps({"role": "assistant", "content": note})})
        agent.add_event("gen_ai.choice", {"message": "Noted."})


def searched(tracer: Tracer, asked: str, found: Sequence[str], answer: str) -> None:
    """A turn with a search, whose results the model gets."""
    with tracer.start_as_current_span("invoke_agent") as agent:
        agent.set_attributes({"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": "c7"})
        agent.add_event("gen_ai.user.message", {"content": asked})
        search(tracer, *found)
        chat(tracer, f"Known: {' '.join(found)}", answer)
        agent.add_event("gen_ai.choice", {"message": answer})


@pytest.mark.parametrize("are_kept", [True, False])
async def test_a_search_that_misses_a_note_is_at_fault_if_searches_return_notes(takes: Takes, are_kept: bool) -> None:
    takes.anew()
    kept = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource.create({"service.name": "travel"}), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    tracer = provider.get_tracer("tests")
    noted(tracer, "My window seat on the night train is 61.", "The seat of the user is 61.")
    noted(tracer, "My dog is called Bo.", "The dog of the user is called Bo.")
    found = "The dog of the user is called Bo." if are_kept else "A dog barks."
    searched(tracer, "What is my dog called?", [found], "Bo.")
    searched(tracer, "Where do I sit?", [], "I know of no such booking.")
    await takes.take(encode_spans(kept.get_finished_spans()).SerializeToString())
    await takes.written()
    id_ = trace_id(takes.project, "travel: c7")
    answered = (await elements(takes.store, Variable, id_, [VariableKind.ANSWER.value]))[-1]
    ((asked,),) = (await questions_of(takes.store, [answered])).values()
    failure = await record_failure(takes.store, Complaint(asked.id, answered.id, ("61",)), "tests")
    graph = await TraceGraph.load(takes.store, id_)
    verdict = await FlowPass().attribute(graph, failure)
    assert verdict.error_type is (ErrorType.RETRIEVAL if are_kept else None)
    assert verdict.confidence < 0.9
    assert await problems(verdict, graph) == []


@pytest.mark.parametrize(
    ("note", "found", "error_type"),
    [
        ("The user rides a night train.", "The user rides a night train.", ErrorType.EXTRACTION),
        ("The seat of the user is 61.", "The dog of the user is called Bo.", ErrorType.RETRIEVAL),
    ],
)
async def test_the_path_goes_through_steps_between_the_turn_and_the_model(
    takes: Takes, note: str, found: str, error_type: ErrorType
) -> None:
    takes.anew()
    kept = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource.create({"service.name": "travel"}), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    tracer = provider.get_tracer("tests")
    for said, line in (
        ("My window seat on the night train is 61.", note),
        ("My dog is called Bo.", "The dog of the user is called Bo."),
    ):
        with tracer.start_as_current_span("turn.workflow") as workflow:
            workflow.set_attributes(entity("workflow", said, "Noted."))
            with tracer.start_as_current_span("note.task") as task:
                task.set_attributes(entity("task", said, line))
                with tracer.start_as_current_span("openai.chat") as span:
                    span.set_attributes({"llm.request.type": "chat", "gen_ai.prompt.0.role": "user"})
                    span.set_attributes({"gen_ai.prompt.0.content": f"Write a note: {said}"})
                    span.set_attributes({"gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": line})
    with tracer.start_as_current_span("turn.workflow") as workflow:
        workflow.set_attributes(entity("workflow", "Where do I sit?", "I know of no such booking."))
        search(tracer, found)
        chat(tracer, f"Known: {found}", "I know of no such booking.")
    await takes.take(encode_spans(kept.get_finished_spans()).SerializeToString())
    await takes.written()
    id_ = trace_id(takes.project, "travel: c7")
    answered = (await elements(takes.store, Variable, id_, [VariableKind.ANSWER.value]))[-1]
    ((asked,),) = (await questions_of(takes.store, [answered])).values()
    failure = await record_failure(takes.store, Complaint(asked.id, answered.id, ("61",)), "tests")
    graph = await TraceGraph.load(takes.store, id_)
    verdict = await FlowPass().attribute(graph, failure)
    assert verdict.error_type is error_type
    assert await problems(verdict, graph) == []
    holds = [step.holds for step in verdict.path]
    assert holds[:2] == [True, True]  # what a step was given as it is has the fact, too
    assert holds[-1] is (error_type is ErrorType.RETRIEVAL)


def entity(kind: str, given: str, got: str) -> dict[str, str]:
    return {
        "traceloop.association.properties.session_id": "c7",
        "traceloop.span.kind": kind,
        "traceloop.entity.input": json.dumps({"args": [given], "kwargs": {}}),
        "traceloop.entity.output": json.dumps(got),
    }


async def test_turns_of_a_user_are_no_missing_messages(takes: Takes) -> None:
    _, graph = await verdict(takes, missed, "I know of no such booking.", ["Noted."])
    (trace,) = (await takes.store.traces()).items
    found = advised(await holes(graph), trace, graph)
    assert not [one for one in found if "capture the contents" in one.fix or "depend on no message" in one.problem]


async def test_no_operation_is_blamed_for_an_answer_that_has_the_right_words(takes: Takes) -> None:
    found, _ = await verdict(takes, missed, "Seat 61, as far as I know.")
    assert (found.error_type, found.operation_id) == (ErrorType.JUDGE, None)


async def test_the_right_number_about_something_else_makes_no_sure_verdict(takes: Takes) -> None:
    found, _ = await verdict(takes, numbered, "I know of no such booking.")
    assert found.confidence < 0.9


async def holes_of(takes: Takes, spans: list[Sent]) -> dict[str, str]:
    """The problems of the only trace of these spans, with what to do about each."""
    takes.anew()
    await takes.take(protobuf(spans))
    await takes.written()
    (trace,) = (await takes.store.traces()).items
    graph = await TraceGraph.load(takes.store, trace.id)
    return {one.problem: one.fix for one in advised(await holes(graph), trace, graph)}


def call(word: str, text: str | None, **said: str) -> Sent:
    """A model's call; None has no contents."""
    messages = {
        "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": text}]}]),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "Yes."}]}]),
    }
    told = {"gen_ai.operation.name": "chat", **({} if text is None else messages)}
    return Sent(word, "chat", 0, 9, told | {name.replace("_", "."): value for name, value in said.items()})


SILENT, ALONE = "calls of models and searches tell no contents", "the spans name no conversation"


async def test_calls_without_contents_are_told_with_how_to_capture_them(takes: Takes) -> None:
    found = await holes_of(takes, [call("a", None, session_id="s"), call("b", "Is it open?", session_id="s")])
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" in found[f"1 of 2 {SILENT}"]
    assert "gen_ai.input.messages" in found[f"1 of 2 {SILENT}"]
    assert not [one for one in await holes_of(takes, [call("b", "Is it open?", session_id="s")]) if SILENT in one]


@pytest.mark.parametrize(
    ("spans", "is_told"),
    [
        ([call("a", "Is it open?")], True),
        ([call("a", None)], True),
        ([call("a", "Is it open?", session_id="s")], False),
        ([call("a", "Is it open?", memtrace_trace="shop")], False),
        ([call("a", "Is it open?"), call("b", "Who is there?")], False),
    ],
)
async def test_a_single_question_without_a_conversation_is_told_with_the_names_of_attributes(
    takes: Takes, spans: list[Sent], is_told: bool
) -> None:
    told = [fix for problem, fix in (await holes_of(takes, spans)).items() if problem.startswith(ALONE)]
    assert bool(told) is is_told
    assert all("gen_ai.conversation.id" in fix and "memtrace.trace=" in fix for fix in told)


async def test_a_number_by_chance_is_no_evidence(takes: Takes) -> None:
    found, _ = await verdict(takes, asks_a_tool, "I know of no such booking.")
    assert found.error_type is None
    assert "give the spans of the tools" in found.reason


async def test_a_reply_that_only_calls_tools_is_no_answer(takes: Takes) -> None:
    takes.anew()
    kept = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource.create({"memtrace.trace": "desk"}), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    asks_a_tool(provider.get_tracer("tests"), "Seat 61.")
    await takes.take(encode_spans(kept.get_finished_spans()).SerializeToString())
    await takes.written()
    answers = await elements(takes.store, Variable, trace_id(takes.project, "desk"), [VariableKind.ANSWER.value])
    assert [one.preview for one in answers] == ["Seat 61."]


def dated(tracer: Tracer, answer: str) -> None:
    """The prompt tells the day, without its year."""
    chat(tracer, "Known: the night train leaves on 14 November at 61 Quay Street.", answer)


async def test_another_day_without_its_year_is_another_answer(takes: Takes) -> None:
    found, _ = await verdict(takes, dated, "On 4 November at 61 Quay Street.", gold="On 14 November at 61 Quay Street")
    assert found.error_type is ErrorType.RESPONSE


def turn_with_a_tool(
    tracer: Tracer, said: str, tool: str = "", found: Sequence[str] | None = None, answer: str = "Noted."
) -> None:
    """A turn of a rolodex whose program calls its tools itself: one is given the text, or searches."""
    with tracer.start_as_current_span("turn.workflow") as workflow:
        workflow.set_attributes(entity("workflow", said, answer))
        if tool:
            with tracer.start_as_current_span(f"{tool}.tool") as span:
                span.set_attributes(entity("tool", json.dumps({"args": [said], "kwargs": {}}), "Saved."))
        if found is not None:
            search(tracer, *found)
        with tracer.start_as_current_span("openai.chat") as span:
            span.set_attributes({"llm.request.type": "chat", "gen_ai.prompt.0.role": "system"})
            span.set_attributes({"gen_ai.prompt.0.content": f"Known: {' '.join(found or ())}"})
            span.set_attributes({"gen_ai.prompt.1.role": "user", "gen_ai.prompt.1.content": said})
            span.set_attributes({"gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": answer})


IMKE = "Imke Öst keeps bees, her name day is on 3 October."
IMKE_WEBER = "Imke Weber's name day is on 17 February."
ASKED_OF_IMKE = "When is the name day of Imke Öst?"


@pytest.mark.parametrize(
    ("tool", "told", "error_type", "reason"),
    [
        ("save_card", IMKE, ErrorType.RETRIEVAL, "the tool save_card.tool was given what the turn of the user told"),
        ("", IMKE, ErrorType.RETRIEVAL, "searches return turns of the user as they are"),
        # The turn is about somebody else, and the search result nearer to the question.
        (
            "save_card",
            "The name day of the baker is on 3 October.",
            None,
            "seems to tell the gold answer (“The name day",
        ),
        ("save_card", "Imke Öst keeps bees.", None, "nothing that is recorded tells the gold answer"),
    ],
)
async def test_a_turn_that_tells_the_right_answer_is_followed_to_what_searches_return(
    takes: Takes, tool: str, told: str, error_type: ErrorType | None, reason: str
) -> None:
    takes.anew()
    kept = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource.create({"service.name": "travel"}), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    tracer = provider.get_tracer("tests")
    for said in (IMKE_WEBER, told, "The ferry of Öst leaves at noon."):
        turn_with_a_tool(tracer, said, tool)
    turn_with_a_tool(tracer, ASKED_OF_IMKE, found=[IMKE_WEBER], answer=IMKE_WEBER)
    await takes.take(encode_spans(kept.get_finished_spans()).SerializeToString())
    await takes.written()
    id_ = trace_id(takes.project, "travel: c7")
    answered = (await elements(takes.store, Variable, id_, [VariableKind.ANSWER.value]))[-1]
    ((asked,),) = (await questions_of(takes.store, [answered])).values()
    failure = await record_failure(takes.store, Complaint(asked.id, answered.id, ("On 3 October",)), "tests")
    graph = await TraceGraph.load(takes.store, id_)
    found = await FlowPass().attribute(graph, failure)
    blamed = None if found.operation_id is None else graph.operations[found.operation_id].name
    assert (found.error_type, blamed) == (error_type, error_type and "execute_tool recall_bookings")
    assert reason in found.reason
    assert found.confidence < 0.9
    assert await problems(found, graph) == []


async def test_a_turn_that_tells_the_right_answer_in_other_forms_is_shown(takes: Takes) -> None:
    """Words of a language whose forms are not known here prove nothing, but the answer is not untold."""
    takes.anew()
    kept = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource.create({"service.name": "travel"}), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    tracer = provider.get_tracer("tests")
    turn_with_a_tool(tracer, "Оленка мешкає на вулиці Шевченковій, 44.")
    turn_with_a_tool(tracer, "Яка адреса?", answer="Не знаю.", found=[])
    await takes.take(encode_spans(kept.get_finished_spans()).SerializeToString())
    await takes.written()
    id_ = trace_id(takes.project, "travel: c7")
    answered = (await elements(takes.store, Variable, id_, [VariableKind.ANSWER.value]))[-1]
    ((asked,),) = (await questions_of(takes.store, [answered])).values()
    failure = await record_failure(takes.store, Complaint(asked.id, answered.id, ("Вулиця Шевченка, 44",)), "tests")
    found = await FlowPass().attribute(await TraceGraph.load(takes.store, id_), failure)
    assert found.error_type is None
    assert "an earlier turn of the user tells it (“Оленка мешкає на вулиці Шевченковій, 44.”)" in found.reason
