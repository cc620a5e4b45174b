"""A chat with a model, through OpenAI's client.

To record it: memtrace run -- python examples/integrations/openai_chat.py

``OPENAI_BASE_URL`` and ``OPENAI_API_KEY`` name the server, as for every program that uses the client.
"""

import os

from openai import OpenAI

QUESTIONS = ("My dog is called Bo. Say hello to him.", "What is my dog called?")


def main() -> None:
    """Ask two questions in one conversation; the second answer streams."""
    client, model = OpenAI(), os.environ.get("MODEL", "gpt-5-mini")
    first, second = QUESTIONS
    reply = client.chat.completions.create(model=model, messages=[{"role": "user", "content": first}])
    said = reply.choices[0].message.content or ""
    print(said)
    stream = client.chat.completions.create(
        model=model,
        stream=True,
        messages=[
            {"role": "user", "content": first},
            {"role": "assistant", "content": said},
            {"role": "user", "content": second},
        ],
    )
    for chunk in stream:
        print(chunk.choices[0].delta.content or "" if chunk.choices else "", end="")
    print()


if __name__ == "__main__":
    main()
