"""A web service that answers with a model. It knows nothing of MemTrace."""

import json
import os
from urllib.parse import unquote

import openai


def ask(client, words):
    reply = client.chat.completions.create(model="m", messages=[{"role": "user", "content": words}])
    return reply.choices[0].message.content


with openai.OpenAI() as first:
    GREETING = ask(first, "say: welcome")  # while the service is loaded, before its workers exist

model = openai.OpenAI(max_retries=0)


def application(environ, start_response):
    try:
        said = ask(model, unquote(environ["QUERY_STRING"]))
    except openai.OpenAIError as error:
        said = type(error).__name__
    body = json.dumps({"process": os.getpid(), "greeting": GREETING, "said": said}).encode()
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]
