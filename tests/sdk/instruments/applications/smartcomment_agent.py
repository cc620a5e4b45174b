"""An agent with a memory that is recorded by smartcomment; at the end, and once before, it sends its graph."""

import json

import memtrace
from smartcomment import comment_fn, comment_graph, comment_session, comment_variable


@comment_fn(op_name="extract", category="extraction")
def extract(message: str) -> str:
    return message.replace("I have", "The user has")


@comment_fn(op_name="search", category="retrieval")
def search(question: str, unit: str) -> str:
    return f"Known: {unit}"


@comment_fn(op_name="answer", category="generation")
def answer(question: str, context: str) -> str:
    return "It is called Figa."


def main() -> dict:
    with comment_graph(graph_id="agent-of-today") as graph:
        with comment_session(session_name="monday"):
            unit = extract(comment_variable("I have a dog called Figa.", category="message"))
        jobs = [memtrace.from_smartcomment(graph, timezone="UTC")]
        with comment_session(session_name="tuesday"):
            question = comment_variable("What is my dog called?", category="query")
            said = answer(question, search(question, unit))
        jobs.append(memtrace.from_smartcomment(graph, timezone="UTC"))
        return {"jobs": jobs, "said": str(said), "graph": graph.export_graph()}


print(json.dumps(main()))
