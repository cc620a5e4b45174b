"""Optimize the agent's prompts, take the better one over, and go back."""

import argparse
import os
import shlex
import subprocess
import sys
from pathlib import Path

from . import conversations
from .agent import PROMPTS
from .model import REFLECTING, serve


def main() -> None:
    """Run the commands that a user would type."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="a new folder for all files")
    folder: Path = parser.parse_args().folder
    prompts, run, cases = folder / "prompts", folder / "run", folder / "cases.jsonl"
    prompts.mkdir(parents=True)
    for name, text in PROMPTS.items():
        (prompts / f"{name}.txt").write_text(text, "utf-8")
    conversations.write(cases)
    store = ["--store", f"sqlite:///{folder}/graph.db"]
    with serve() as url:
        os.environ |= {
            "OPENAI_BASE_URL": url,
            "MEMTRACE_LLM_BASE_URL": url,
            "MEMTRACE_LLM_MODEL": REFLECTING,
        }
        agent = "examples.better_prompts.agent:Agent"
        memtrace(
            *store, "evaluate", agent, "--dataset", str(cases), "--run", str(folder / "before"), "--judge", "exact",
            "--users", "person 1,person 2,person 3,person 4",
        )  # fmt: skip
        memtrace(
            *store, "optimize", agent, "--cases", str(cases), "--prompts", str(prompts), "--run", str(run),
            "--judge", "exact", "--margin", "0.35",
        )  # fmt: skip
        memtrace("optimize", "accept", str(run), "--prompts", str(prompts))
        print((prompts / "extraction.txt").read_text("utf-8"))
        memtrace("optimize", "rollback", str(run), "--prompts", str(prompts))
        print((prompts / "extraction.txt").read_text("utf-8"))


def memtrace(*arguments: str) -> None:
    """Run a command, which is shown first."""
    print(f"\n$ memtrace {shlex.join(arguments)}", flush=True)
    subprocess.run([sys.executable, "-m", "memtrace_platform", *arguments], check=True)


if __name__ == "__main__":
    main()
