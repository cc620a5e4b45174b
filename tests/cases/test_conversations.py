"""Programs that talk to a model with OpenAI's client and keep the conversation, or let the server keep it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import memtrace
import openai
import pytest
from memtrace.exporters.memory import MemoryExporter
from memtrace.instruments import handed_out, model_calls, placing, program_name

from attribution.free_pass.trial import SURE
from tests.cli.conftest import Cli
from tests.sdk.conftest import recorded
from tests.sdk.instruments import scripted_openai

__all__ = ["recorded"]

SAID = ("My bus pass ends in 8831, please keep it in mind.", "Tell me about tea.", "And about coffee?")
ASKED = "Which digits does my bus pass end in?"
RIGHT = "8831"
TOLD = "In the hall stand thirty chairs. In the yard stands a bench."
PLACE, PLACED = "The keys hang behind the third barrel.", "Behind which barrel do the keys hang?"
THOUGHT = {
    PLACE: "<think>\nThe third barrel, then.\n</think>\n\nI will remember it.",
    PLACED: "<think>\nThird, it was said.\n</think>\n\nBehind the second barrel.",
}
ADVISE, ADVISED = "Where do you advise me to eat in Ulm?", "Where in Ulm did you advise me to eat?"


def script(body: dict[str, Any]) -> str | dict[str, Any]:
    """A model that forgets the bus pass."""
    given: Any = body.get("messages") or body.get("input")
    text = given if isinstance(given, str) else given[-1].get("content") or given[-1]["output"]
    if text == ASKED:
        return "They are not known to me."
    if text == ADVISE:
        return "Take the leek soup at the Blue Ladle."
    if text == ADVISED:
        return "They have no soup, as far as I know."
    if text == TOLD:
        return "There are thirteen chairs."
    if text.startswith("In JSON"):
        return json.dumps({"text": "Höhe: neun Meter", "sure": True, "next": "Anything else?"})
    if text in THOUGHT:
        return THOUGHT[text]
    if text.startswith("Condense"):
        return "The person travels by bus and likes tea."
    if text == "Think first.":
        return {"content": "Done.", "reasoning_content": "First I think."}
    if text == "Look it up.":
        call = {"id": "call_1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
        return {"content": None, "tool_calls": [call]}
    return f"Noted: {text.split()[-1]}"


@pytest.fixture(autouse=True)
def _instrumented(recorded: MemoryExporter) -> Iterator[None]:
    handed_out.forget()
    model_calls.forget()
    placing.forget()
    memtrace.instrument("openai")
    yield
    memtrace.uninstrument()


@pytest.fixture(scope="module")
def server() -> Iterator[scripted_openai.ScriptedOpenAI]:
    with scripted_openai.running(script) as running:
        yield running


@pytest.fixture
def client(server: scripted_openai.ScriptedOpenAI) -> openai.OpenAI:
    return openai.OpenAI(base_url=server.url, api_key="k")


@pytest.fixture
def cli(tmp_path: Path, recorded: MemoryExporter) -> Callable[[], Cli]:
    """Imports what is recorded so far; returns the command line on the store."""

    def imported() -> Cli:
        lines = tmp_path / "recorded.ndjson"
        lines.write_text("".join(json.dumps(event) + "\n" for event in recorded.events))
        command = Cli(f"sqlite:///{tmp_path / 't.db'}")
        command("import", lines)
        return command

    return imported


def chat(client: openai.OpenAI, messages: list[Any], **more: Any) -> Any:
    return client.chat.completions.create(model="m", messages=messages, **more).choices[0].message


def talk(client: openai.OpenAI, cut: Callable[[list[Any]], list[Any]], **more: Any) -> None:
    """A program whose history is cut by ``cut`` before each call."""
    history: list[Any] = []
    for text in (*SAID, ASKED):
        history = cut([*history, {"role": "user", "content": text}])
        reply = chat(client, [{"role": "system", "content": "Be kind."}, *history], **more)
        history.append({"role": "assistant", "content": reply.content})


def copied(history: list[Any]) -> list[Any]:
    copy: list[Any] = json.loads(json.dumps(history))
    return copy


def verdict(command: Cli, answer: str, gold: str = RIGHT) -> dict[str, Any]:
    """The verdict after the only answer with this text was called wrong."""
    (listed,) = [one for one in command("answers", "--json").json if one["preview"] == answer]
    failure = command("fail", listed["id"], "--gold", gold, "--json").json
    command("attribute", "--all")
    (found,) = [one for one in command("failures", "--json").json if one["id"] == failure["id"]]
    (one,) = found["verdicts"]
    return dict(one)


def kinds(recorded: MemoryExporter) -> list[tuple[str, str]]:
    return [(event["kind"], event["value"]) for event in recorded.of("variable")]


def traces(recorded: MemoryExporter) -> set[str]:
    return {event["trace"] for event in recorded.of("operationStarted")}


@pytest.mark.parametrize(
    "cut", [lambda h: h[-3:], lambda h: copied(h[-3:]), lambda h: copied(h)[-1:]], ids=["same", "copies", "last alone"]
)
def test_what_a_window_dropped_is_no_longer_in_the_prompt(
    client: openai.OpenAI, recorded: MemoryExporter, cli: Callable[[], Cli], cut: Callable[[list[Any]], list[Any]]
) -> None:
    talk(client, cut)
    command = cli()
    listed = command("answers", "--json").json
    assert [one["question"] for one in listed] == [*SAID, ASKED]
    found = verdict(command, "They are not known to me.")
    if len(traces(recorded)) > 1:  # nothing connects calls with a single message each
        assert found["errorType"] is None
        return
    assert found["errorType"] == "DeletionError"
    assert "no longer in the prompt" in found["reason"]
    assert found["operationId"] == listed[-1]["operationId"]


@pytest.mark.parametrize(("kept", "error"), [(3, "DeletionError"), (99, "ResponseError")])
def test_what_the_model_itself_had_said(client: openai.OpenAI, cli: Callable[[], Cli], kept: int, error: str) -> None:
    history: list[Any] = []
    for text in (ADVISE, *SAID, ADVISED):
        history = [*history, {"role": "user", "content": text}][-kept:]
        history.append({"role": "assistant", "content": chat(client, history).content})
    command = cli()
    found = verdict(command, "They have no soup, as far as I know.", "the Blue Ladle")
    assert found["errorType"] == error
    assert found["operationId"] == command("answers", "--json").json[-1]["operationId"]


def test_what_a_tool_told(client: openai.OpenAI, cli: Callable[[], Cli]) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    chat(
        client,
        [
            {"role": "user", "content": "How many chairs stand in the hall?"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": TOLD},
        ],
    )
    found = verdict(cli(), "There are thirteen chairs.", "thirty")
    assert found["errorType"] == "ResponseError"
    assert "the answer was made from a text that has the right answer" in found["reason"]
    assert [step["quote"] for step in found["evidence"]] == ["In the hall stand thirty chairs."]


def test_an_answer_can_be_called_right(client: openai.OpenAI, cli: Callable[[], Cli]) -> None:
    talk(client, list)
    command = cli()
    first = command("answers", "--json").json[0]
    command("right", first["id"])
    assert command("answers", "--json").json[0]["right"] is True


def test_a_model_that_was_given_the_fact_is_at_fault(client: openai.OpenAI, cli: Callable[[], Cli]) -> None:
    talk(client, list)
    assert verdict(cli(), "They are not known to me.")["errorType"] == "ResponseError"


@pytest.mark.parametrize("is_streamed", [False, True])
def test_previous_responses_are_one_trace(
    client: openai.OpenAI, recorded: MemoryExporter, cli: Callable[[], Cli], is_streamed: bool
) -> None:
    last = None
    for text in (*SAID, ASKED):
        if is_streamed:
            stream = client.responses.create(model="m", input=text, previous_response_id=last, stream=True)
            (last,) = [event.response.id for event in stream if event.type == "response.completed"]
        else:
            last = client.responses.create(model="m", input=text, previous_response_id=last).id
    assert len(traces(recorded)) == 1
    found = verdict(cli(), "They are not known to me.")
    assert found["errorType"] == "ResponseError"
    assert [event["attributes"].get("previousResponseId") for event in recorded.of("operationStarted")][1:] == [
        "resp_1"
    ] * 3


@pytest.mark.parametrize("named", ["conv_1", {"id": "conv_1"}])
def test_a_conversation_of_the_server_is_one_trace(
    client: openai.OpenAI, recorded: MemoryExporter, cli: Callable[[], Cli], named: Any
) -> None:
    for text in (SAID[0], ASKED):
        client.responses.create(model="m", input=text, conversation=named)
    client.responses.create(model="m", input=SAID[1], conversation="conv_2")
    assert len(traces(recorded)) == 2
    assert {event["trace"] for event in recorded.of("operationStarted")[:2]} == {
        placing.conversation_home("conv_1").trace
    }
    assert verdict(cli(), "They are not known to me.")["errorType"] == "ResponseError"


def test_a_session_in_the_metadata_is_one_trace_whose_calls_share_nothing_else(
    client: openai.OpenAI, recorded: MemoryExporter, cli: Callable[[], Cli]
) -> None:
    for text in (SAID[0], ASKED):
        chat(client, [{"role": "user", "content": text}], metadata={"session_id": "s1"})
    assert len(traces(recorded)) == 1
    assert {event["name"] for event in recorded.of("session")} == {"s1"}
    found = verdict(cli(), "They are not known to me.")
    assert found["errorType"] == "DeletionError"
    assert found["reason"].startswith("not in the request")
    assert found["confidence"] < SURE


def test_input_that_repeats_the_output_items_goes_on(client: openai.OpenAI, recorded: MemoryExporter) -> None:
    history: list[Any] = []
    for text in SAID:
        history.append({"role": "user", "content": text})
        history += client.responses.create(model="m", input=history).output
    assert len(traces(recorded)) == 1
    assert [kind for kind, _ in kinds(recorded)] == ["Message", "Answer"] * 3


def test_conversations_that_begin_alike_are_not_mixed(client: openai.OpenAI, recorded: MemoryExporter) -> None:
    histories: list[list[Any]] = [[], []]
    for texts in (("Hi", "Hi"), ("I am Ann", "I am Bob"), ("Bye", "Bye")):
        for history, text in zip(histories, texts, strict=True):
            history.append({"role": "user", "content": text})
            history.append({"role": "assistant", "content": chat(client, copied(history)).content + ""})
    assert len(traces(recorded)) == 2
    of_ann, of_bob = (
        next(event["trace"] for event in recorded.of("variable") if event["value"] == text)
        for text in ("I am Ann", "I am Bob")
    )
    assert of_ann != of_bob
    assert len([event for event in recorded.of("operationStarted") if event["trace"] == of_ann]) == 3


def test_tasks_are_not_mixed(server: scripted_openai.ScriptedOpenAI, recorded: MemoryExporter) -> None:
    client = openai.AsyncOpenAI(base_url=server.url, api_key="k")

    async def one(name: str) -> None:
        history: list[Any] = []
        for text in ("Hello there, my friend", f"I am {name}", "Who am I?"):
            history = [*copied(history), {"role": "user", "content": text}]
            reply = await client.chat.completions.create(model="m", messages=history)
            history.append({"role": "assistant", "content": reply.choices[0].message.content})

    async def all_of_them() -> None:
        async with client:
            await asyncio.gather(*map(one, ("Ann", "Bob", "Cid")))

    asyncio.run(all_of_them())
    assert len(traces(recorded)) == 3
    assert [len([o for o in recorded.of("operationStarted") if o["trace"] == trace]) for trace in traces(recorded)] == [
        3
    ] * 3


def test_a_prompt_for_a_summary_is_no_turn(
    client: openai.OpenAI, recorded: MemoryExporter, cli: Callable[[], Cli]
) -> None:
    history: list[Any] = []
    for text in SAID:
        history.append({"role": "user", "content": text})
        history.append({"role": "assistant", "content": chat(client, history).content})
    told = "\n".join(f"{one['role']}: {one['content']}" for one in history)
    summary = chat(client, [{"role": "user", "content": f"Condense this: {told}"}]).content
    chat(client, [{"role": "system", "content": f"So far: {summary}"}, {"role": "user", "content": ASKED}])
    assert len(traces(recorded)) == 1
    assert ("Response", "The person travels by bus and likes tea.") in kinds(recorded)
    command = cli()
    found = verdict(command, "They are not known to me.")
    condensing = next(event["operation"] for event in recorded.of("variable") if event["kind"] == "Response")
    assert recorded.of("operationStarted")[3]["operation"] == condensing
    operations = {one["id"]: one for one in command("operations", "--json").json}
    assert operations[found["operationId"]]["externalId"] == condensing


def test_the_result_of_a_tool_leads_to_an_answer(client: openai.OpenAI, recorded: MemoryExporter) -> None:
    messages: list[Any] = [{"role": "user", "content": "Look it up."}]
    messages.append(chat(client, messages))
    messages.append({"role": "tool", "tool_call_id": "call_1", "content": "It is green."})
    chat(client, messages)
    assert [kind for kind, _ in kinds(recorded)] == ["Message", "Response", "Other", "Answer"]


def test_history_of_another_process_is_earlier_messages(client: openai.OpenAI, recorded: MemoryExporter) -> None:
    history = [{"role": "user", "content": SAID[0]}, {"role": "assistant", "content": "Noted, then."}]
    chat(client, [*history, {"role": "user", "content": ASKED}])
    told = {event["value"]: (event["kind"], event.get("category")) for event in recorded.of("variable")}
    assert told == {
        SAID[0]: ("Message", "earlier"),
        "Noted, then.": ("Message", "earlier"),
        ASKED: ("Message", "turn"),
        "They are not known to me.": ("Answer", None),
    }


@pytest.mark.parametrize("is_streamed", [False, True])
def test_reasoning_is_kept_with_the_reply(client: openai.OpenAI, recorded: MemoryExporter, is_streamed: bool) -> None:
    asked = [{"role": "user", "content": "Think first."}]
    if is_streamed:
        list(client.chat.completions.create(model="m", messages=asked, stream=True))  # type: ignore[arg-type]
    else:
        chat(client, asked)
    assert [(event["kind"], event["name"], event["value"]) for event in recorded.of("variable")] == [
        ("Message", "user message", "Think first."),
        ("Other", "reasoning", "First I think."),
        ("Answer", "reply", "Done."),
    ]
    thought, reply = (event["variable"] for event in recorded.of("variable")[1:])
    assert (thought, reply) in {(event["source"], event["target"]) for event in recorded.of("derived")}


def test_programs_that_name_their_conversation_alike_share_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    found = set()
    for name in ("shop", "bank"):
        program_name.namespace.cache_clear()
        monkeypatch.setenv("MEMTRACE_NAMESPACE", name)
        found.add(placing.conversation_home("t1").trace)
    assert len(found) == 2
    monkeypatch.delenv("MEMTRACE_NAMESPACE")
    program_name.namespace.cache_clear()
    assert placing.conversation_home("t1").trace not in found


def test_a_program_that_keeps_a_reply_without_its_reasoning_has_one_conversation(
    client: openai.OpenAI, recorded: MemoryExporter, cli: Callable[[], Cli]
) -> None:
    history: list[Any] = []
    for text in (PLACE, PLACED):
        history.append({"role": "user", "content": text})
        reply = chat(client, json.loads(json.dumps(history))).content
        history.append({"role": "assistant", "content": reply.split("</think>")[1].strip()})
    assert len(traces(recorded)) == 1
    assert kinds(recorded) == [
        ("Message", PLACE),
        ("Other", "The third barrel, then."),
        ("Answer", "I will remember it."),
        ("Message", PLACED),
        ("Other", "Third, it was said."),
        ("Answer", "Behind the second barrel."),
    ]
    found = verdict(cli(), "Behind the second barrel.", "behind the third barrel")
    assert found["errorType"] == "ResponseError"


def test_what_a_program_keeps_of_a_structured_reply_derives_from_the_reply(
    client: openai.OpenAI, recorded: MemoryExporter
) -> None:
    history: list[Any] = []
    for text in ("In JSON: how high is the hall?", "In JSON: and the yard?"):
        history.append({"role": "user", "content": text})
        reply = json.loads(chat(client, json.loads(json.dumps(history))).content)
        history.append({"role": "assistant", "content": reply["text"]})
    assert len(traces(recorded)) == 1
    (kept,) = [one for one in recorded.of("variable") if one["value"] == "Höhe: neun Meter"]
    (edge,) = [one for one in recorded.of("derived") if one["target"] == kept["variable"]]
    (whole,) = [one for one in recorded.of("variable") if one["variable"] == edge["source"]]
    assert (kept["kind"], whole["kind"]) == ("Response", "Answer")
    assert json.loads(whole["value"])["sure"] is True
