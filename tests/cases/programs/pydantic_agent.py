"""A small agent of pydantic-ai with a memory tool, in an environment without MemTrace."""

import sys

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from pydantic_ai import Agent
from pydantic_ai.models.instrumented import InstrumentationSettings
from pydantic_ai.models.openai import OpenAIChatModel

NOTES = ["The user's boat is called Heron.", "The user's cellar is flooded."]

provider = TracerProvider(resource=Resource.create({"service.name": "agent", "memtrace.trace": "boat"}))
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
Agent.instrument_all(InstrumentationSettings(tracer_provider=provider))
agent = Agent(OpenAIChatModel("m"), system_prompt="Use your notes.")


@agent.tool_plain
def find_notes(query: str) -> list[str]:
    """Find notes."""
    return [note for note in NOTES if "cellar" in note]  # misses what is needed


sys.stdout.write(agent.run_sync("What is my boat called?").output)
provider.shutdown()
