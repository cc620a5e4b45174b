"""Each way of calling OpenAI's client. It knows nothing of a recorder."""

import asyncio
import json
import sys

import openai
from pydantic import BaseModel

EARLIER = openai.OpenAI(max_retries=2)
CHAT = EARLIER.chat.completions.create  # bound before anything is patched, where patching comes late


class City(BaseModel):
    name: str


def user(text):
    return [{"role": "user", "content": text}]


def whole(client):
    return client.chat.completions.create(model="m", messages=user("say: whole")).choices[0].message.content


def streamed(client):
    stream = client.chat.completions.create(
        model="m", messages=user("say: streamed words"), stream=True, stream_options={"include_usage": True}
    )
    kind = type(stream).__name__
    return kind, [chunk.choices[0].delta.content for chunk in stream if chunk.choices]


def left_early(client):
    with client.chat.completions.create(model="m", messages=user("say: left early"), stream=True) as stream:
        next(stream)
        return next(stream).choices[0].delta.content


def helper(client):
    with client.chat.completions.stream(model="m", messages=user("say: by the helper")) as stream:
        stream.until_done()
        return stream.get_final_completion().choices[0].message.content


def parsed(client):
    done = client.chat.completions.parse(model="m", messages=user('say: {"name": "Paris"}'), response_format=City)
    return done.choices[0].message.parsed.name, type(done).__name__


def tools(client):
    messages = user("call: weather")
    tool = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}
    first = client.chat.completions.create(model="m", messages=messages, tools=[tool]).choices[0].message
    messages.append(first)
    messages.append({"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": "say: it is 21 degrees"})
    return client.chat.completions.create(model="m", messages=messages, tools=[tool]).choices[0].message.content


def raw(client):
    response = client.chat.completions.with_raw_response.create(model="m", messages=user("say: raw"))
    return type(response).__name__, response.parse().choices[0].message.content


def raw_stream(client):
    response = client.chat.completions.with_raw_response.create(
        model="m", messages=user("say: raw stream"), stream=True
    )
    return "".join(chunk.choices[0].delta.content or "" for chunk in response.parse() if chunk.choices)


def streaming_response(client):
    with client.chat.completions.with_streaming_response.create(model="m", messages=user("say: lines")) as response:
        return json.loads("".join(response.iter_lines()))["choices"][0]["message"]["content"]


def parsed_streaming_response(client):
    with client.chat.completions.with_streaming_response.create(model="m", messages=user("say: late")) as response:
        return response.parse().choices[0].message.content


def responses(client):
    return client.responses.create(model="m", instructions="Be short.", input="say: a response").output_text


def responses_streamed(client):
    stream = client.responses.create(model="m", input=user("say: a streamed response"), stream=True)
    return [event.type for event in stream]


def completion(client):
    return client.completions.create(model="m", prompt="say: completed").choices[0].text


def embeddings(client):
    done = client.embeddings.create(model="e", input=["one text", "another text"])
    return [len(item.embedding) for item in done.data]


def posted(client):
    return client.post("/chat/completions", cast_to=object, body={"model": "m", "messages": user("say: posted")})[
        "choices"
    ][0]["message"]["content"]


def several(client):
    done = client.chat.completions.create(model="m", messages=user("say: several"), n=2)
    return [choice.message.content for choice in done.choices]


def failing(client):
    try:
        client.with_options(max_retries=1).chat.completions.create(model="m", messages=user("fail: 500"))
    except openai.InternalServerError as error:
        return type(error).__name__, error.status_code


def refused(client):
    try:
        client.chat.completions.create(model="m", messages=user("fail: 401"))
    except openai.AuthenticationError as error:
        return str(error)


def conversation(client):
    messages = [{"role": "system", "content": "You are brief, and answer in one line."}]
    for text in ("say: the first reply", "say: the second reply", "say: the third reply"):
        messages.append({"role": "user", "content": text})
        message = client.chat.completions.create(model="m", messages=messages).choices[0].message
        messages.append({"role": "assistant", "content": message.content})
    return [message["content"] for message in messages]


async def asynchronous():
    client = openai.AsyncOpenAI()
    whole = await client.chat.completions.create(model="m", messages=user("say: asynchronous"))
    stream = await client.chat.completions.create(model="m", messages=user("say: asynchronous stream"), stream=True)
    kind = type(stream).__name__
    chunks = [chunk.choices[0].delta.content async for chunk in stream if chunk.choices]
    raw = await client.chat.completions.with_raw_response.create(model="m", messages=user("say: asynchronous raw"))
    response = await client.responses.create(model="m", input="say: asynchronous response")
    vectors = await client.embeddings.create(model="e", input="a text")
    async with client.chat.completions.with_streaming_response.create(
        model="m", messages=user("say: asynchronous late")
    ) as late:
        parsed = await late.parse()
    replies = [whole.choices[0].message.content, kind, chunks, raw.parse().choices[0].message.content]
    return [*replies, response.output_text, len(vectors.data), parsed.choices[0].message.content]


CASES = [whole, streamed, left_early, helper, parsed, tools, raw, raw_stream, streaming_response]
CASES += [parsed_streaming_response, responses, responses_streamed, completion, embeddings, posted, several, failing]
CASES += [refused, conversation]

if __name__ == "__main__":
    wanted = sys.argv[1:]
    said = {case.__name__: case(EARLIER) for case in CASES if not wanted or case.__name__ in wanted}
    if not wanted or "asynchronous" in wanted:
        said["asynchronous"] = asyncio.run(asynchronous())
    if not wanted or "bound" in wanted:
        said["bound"] = CHAT(model="m", messages=user("say: bound before")).choices[0].message.content
    print(json.dumps(said))
