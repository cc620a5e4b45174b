"""A small program with OpenAI's client and a third-party instrumentation, in an environment without MemTrace.

Run: ``python assistant.py INSTRUMENTATION FILE``. The spans go to ``OTEL_EXPORTER_OTLP_ENDPOINT``, and also to the
file, one request per line, in hexadecimal.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from openai import BadRequestError, OpenAI
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter, SpanExportResult

FACT = "Ada keeps two tortoises in her garden."
ASKED = "What does Ada keep in her garden?"


class Kept(SpanExporter):
    """Writes the exporter's requests to a file."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w")

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self._file.write(encode_spans(spans).SerializeToString().hex() + "\n")
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        self._file.close()


def main(instrumentation: str, file: str) -> None:
    provider = TracerProvider(resource=Resource({"service.name": "assistant"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    provider.add_span_processor(SimpleSpanProcessor(Kept(Path(file))))
    trace.set_tracer_provider(provider)
    importlib.import_module(instrumentation).OpenAIInstrumentor().instrument(tracer_provider=provider)
    client = OpenAI(max_retries=0)

    def chat(*messages: tuple[str, str]) -> str:
        said: Any = [{"role": role, "content": content} for role, content in messages]
        return client.chat.completions.create(model="m", messages=said).choices[0].message.content or ""

    with trace.get_tracer("assistant").start_as_current_span("turn"):
        client.embeddings.create(model="e", input=[FACT])
        known = chat(("system", "Note what is said."), ("user", FACT))
        stream = client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": f"{known}\n{ASKED}"}], stream=True
        )
        sys.stdout.write("".join(one.choices[0].delta.content or "" for one in stream if one.choices) + "\n")
        try:
            chat(("user", "fail"))
        except BadRequestError:
            sys.stdout.write("refused\n")
    provider.shutdown()


if __name__ == "__main__":
    main(*sys.argv[1:])
