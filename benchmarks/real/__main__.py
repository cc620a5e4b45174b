"""Record a run of a memory system: ``python -m benchmarks.real --program mem0 --conversation garden --out DIR``."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.context import ROOT, say

_HERE = Path(__file__).parent
_ADAPTERS = "memtrace.program.adapters."


@dataclass(frozen=True)
class _System:
    """A memory system.

    Attributes:
        program: as ``memtrace evaluate`` takes it.
        environment: environment of ``tests/environments`` with its packages; None for MemTrace's own.
        embeds: whether it needs a model of embeddings.
    """

    program: str
    environment: str | None = None
    embeds: bool = False


PROGRAMS = {
    "buffer": _System(f"{_ADAPTERS}buffer:LongContextBuffer"),
    "notes": _System("benchmarks.real.notes_agent:NotesAgent"),
    "mem0": _System(f"{_ADAPTERS}mem0:Mem0Program", "mem0-2.2.1", True),
    "mem0-1": _System(f"{_ADAPTERS}mem0:Mem0Program", "mem0-1.0.11", True),
    "rag": _System(f"{_ADAPTERS}langchain_rag:LangChainRag", "langchain", True),
    "langgraph": _System(f"{_ADAPTERS}langgraph_store:LangGraphStore", "langchain", True),
}


def main(words: list[str] | None = None) -> int:
    """Run the program over the conversation, and write its trace; returns the exit code."""
    parser = _parser()
    given = parser.parse_args(words)
    system = PROGRAMS[given.program]
    environment = dict(os.environ)
    urls = _models(environment, system, parser)
    dataset = _dataset(given.conversation, parser)
    given.out.mkdir(parents=True, exist_ok=True)
    name = f"{given.program}_{dataset.stem}"
    run = (given.out / f"run_{name}").absolute()
    options = {
        "--store": f"sqlite:///{(given.out / 'graph.db').absolute()}",
        "--dataset": str(dataset),
        "--run": str(run),
        "--python": given.python or _python(system),
        "--parallel": "1",
        "--seconds": str(given.seconds),
        **({"--judge": given.judge} if given.judge else {}),
    }
    command = [sys.executable, "-m", "memtrace_platform", "evaluate", system.program, "--json"]
    command += [part for option in options.items() for part in option]
    command += [part for variable, url in urls.items() for part in ("--model-url", f"{variable}={url}")]
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if not done.stdout:
        return done.returncode
    result = json.loads(done.stdout)
    settings = {"program": given.program, "conversation": dataset.stem, "model": environment["MEMTRACE_PROGRAM_MODEL"]}
    (given.out / f"{name}.json").write_text(json.dumps(settings | result, indent=2, ensure_ascii=False) + "\n", "utf-8")
    recorded = sorted(run.glob("users/*/recorded.ndjson"))
    for events in recorded:
        file = given.out / (f"{name}.ndjson" if len(recorded) == 1 else f"{name}_{events.parent.name}.ndjson")
        shutil.copyfile(events, file)
        say(f"recorded: {file}")
    for user in result["users"]:
        if user["error"]:
            say(f"{user['user']} failed: {user['error']}")
    answers = [answer for user in result["users"] for answer in user["answers"]]
    say(f"{sum(answer['right'] for answer in answers)} of {len(answers)} answers are right")
    return done.returncode


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks.real", description="Record a run of a memory system.")
    parser.add_argument("--program", required=True, choices=PROGRAMS)
    own = ", ".join(sorted(path.stem for path in (_HERE / "conversations").glob("*.jsonl")))
    parser.add_argument("--conversation", required=True, metavar="NAME", help=f"one of {own}, or a data set's file")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="the same again continues a run")
    parser.add_argument("--judge", choices=("exact", "f1", "llm"), help="[llm if MEMTRACE_LLM_MODEL is set, else f1]")
    parser.add_argument("--python", metavar="PATH", help="an environment with the program's packages [made and kept]")
    parser.add_argument("--seconds", type=float, default=3600, help="for one sitting or one answer [%(default)s]")
    return parser


def _models(environment: dict[str, str], system: _System, parser: argparse.ArgumentParser) -> dict[str, str]:
    """The servers by variable; the environment gets the names of the models.

    Variables of the program come first, and then those of the model that attributes and judges.
    """
    taken = {
        "OPENAI_BASE_URL": "MEMTRACE_LLM_BASE_URL",
        "OPENAI_API_KEY": "MEMTRACE_LLM_API_KEY",
        "MEMTRACE_PROGRAM_MODEL": "MEMTRACE_LLM_MODEL",
        "MEMTRACE_PROGRAM_EMBEDDER": "MEMTRACE_LLM_EMBEDDING_MODEL",
        "MEMTRACE_PROGRAM_EMBEDDER_URL": "MEMTRACE_LLM_EMBEDDING_BASE_URL",
    }
    for own, other in taken.items():
        value = environment.get(own) or environment.get(other)
        if value:
            environment[own] = value
    wanted = ["OPENAI_BASE_URL", "MEMTRACE_PROGRAM_MODEL", *(["MEMTRACE_PROGRAM_EMBEDDER"] if system.embeds else [])]
    missing = [f"{name} or {taken[name]}" for name in wanted if name not in environment]
    if missing:
        parser.error(f"no model is named: set {' and '.join(missing)}")
    environment.setdefault("OPENAI_API_KEY", "none")  # clients want some key, also where a server needs none
    servers = ["OPENAI_BASE_URL", *(["MEMTRACE_PROGRAM_EMBEDDER_URL"] if system.embeds else [])]
    return {name: environment[name] for name in servers if name in environment}


def _dataset(named: str, parser: argparse.ArgumentParser) -> Path:
    own = _HERE / "conversations" / f"{named}.jsonl"
    path = own if own.exists() else Path(named).absolute()
    if not path.exists():
        parser.error(f"there is no conversation {named}, and no such file")
    return path


def _python(system: _System) -> str:
    if system.environment is None:
        return sys.executable
    from tests import environments

    say(f"the environment {system.environment} is made once and kept")
    return str(environments.python(system.environment))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl-C, and the run too
    sys.exit(main())
