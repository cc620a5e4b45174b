"""Child in an environment of its own: calls a model through OpenAI's client, recorded by one of several, or by none.

The model is a transport inside the process, so that only the client and the recorder take time. Nothing of the project
but the recorder may be imported here.
Run: ``python instruments_child.py none|memtrace|openinference|smartcomment COUNT FOLDER``
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

BURST = 100
REPLY = {
    "id": "call-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "usage": {"prompt_tokens": 200, "completion_tokens": 50, "total_tokens": 250},
}
FACTS = "\n".join(f"- The user has a dog number {number}, which is called Bo." for number in range(20))


def client() -> Any:
    """A client of a model that answers at once, each time something else."""
    import httpx2  # type: ignore[import-not-found,import-untyped,unused-ignore]
    import openai

    def answer(request: Any) -> Any:
        words = f"Answer {next(numbers)}: it is called Bo. " * 6
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": words}}
        return httpx2.Response(200, json={**REPLY, "choices": [choice]})

    numbers = itertools.count()

    return openai.OpenAI(api_key="k", http_client=httpx2.Client(transport=httpx2.MockTransport(answer)))  # type: ignore[arg-type,unused-ignore]


def prompt(number: int) -> str:
    """A prompt that nobody has seen before."""
    return f"Known:\n{FACTS}\n\nQuestion {number}: what is the dog called?"


def ask(model: Any, text: str) -> str:
    """One call of the model."""
    system = {"role": "system", "content": "You answer questions about the user from what is known."}
    messages = [system, {"role": "user", "content": text}]
    return str(model.chat.completions.create(model="m", messages=messages).choices[0].message.content)


def call(model: Any, number: int) -> str:
    """The program."""
    return ask(model, prompt(number))


def none(folder: Path) -> tuple[Callable[[Any, int], str], AbstractContextManager[Any], Callable[[], object]]:
    """The program alone."""
    return call, nullcontext(), lambda: None


def memtrace(folder: Path) -> tuple[Callable[[Any, int], str], AbstractContextManager[Any], Callable[[], object]]:
    """Our instrument, events in a file."""
    import memtrace as recorder
    from memtrace.exporters.file import FileExporter

    recorder.configure(exporter=FileExporter(folder / "events.ndjson"))
    recorder.instrument("openai")
    return call, nullcontext(), lambda: recorder.flush(60)


def openinference(folder: Path) -> tuple[Callable[[Any, int], str], AbstractContextManager[Any], Callable[[], object]]:
    """OpenInference's instrument, spans in a file, written in the background as its documentation advises."""
    from openinference.instrumentation.openai import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
        OpenAIInstrumentor,
    )
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter

    out = (folder / "spans.json").open("w")
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(ConsoleSpanExporter(out=out), max_queue_size=100_000))
    OpenAIInstrumentor().instrument(tracer_provider=provider)
    return call, nullcontext(), provider.shutdown


def smartcomment(folder: Path) -> tuple[Callable[[Any, int], str], AbstractContextManager[Any], Callable[[], object]]:
    """The function is commented with smartcomment: the program is changed for it."""
    from smartcomment import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
        comment_fn,
        comment_graph,
        comment_session,
        comment_variable,
    )

    @comment_fn(op_name="ask", category="generation")  # type: ignore[untyped-decorator,unused-ignore]
    def commented(model: Any, text: str) -> str:
        return ask(model, text)

    def call(model: Any, number: int) -> str:
        return str(commented(model, comment_variable(prompt(number), category="prompt")))

    return call, _Both(comment_graph(), comment_session()), lambda: None


class _Both:
    def __init__(self, *blocks: AbstractContextManager[Any]) -> None:
        self._blocks = blocks

    def __enter__(self) -> None:
        for block in self._blocks:
            block.__enter__()

    def __exit__(self, *error: object) -> None:
        for block in reversed(self._blocks):
            block.__exit__(*error)


def main() -> None:
    """Measure: seconds a call, of the processor, in the application's thread and in the whole process."""
    contender = {"none": none, "memtrace": memtrace, "openinference": openinference, "smartcomment": smartcomment}
    run, block, end = contender[sys.argv[1]](Path(sys.argv[3]))
    count, model = int(sys.argv[2]), client()
    with block:
        for number in range(BURST):
            run(model, -number)
        thread, process = [], time.process_time()
        for first in range(0, count, BURST):
            began = time.thread_time()
            for number in range(first, first + BURST):
                run(model, number)
            thread.append((time.thread_time() - began) / BURST)
    end()
    total = (time.process_time() - process) / count
    print(json.dumps({"thread": sorted(thread)[len(thread) // 2], "total": total}))


if __name__ == "__main__":
    main()
