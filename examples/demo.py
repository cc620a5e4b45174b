"""Import a recorded agent, and say in one minute why three of its eight answers are wrong."""

import argparse
import csv
import json
import os
import subprocess
import sys
from pathlib import Path

from schema.error_type_names import error_type_name

SAMPLE = Path(__file__).parent / "sample" / "assistant.json"


def main() -> None:
    """Run the commands that a user would type, and print what they found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="a folder for the store and the report")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    store = folder / "demo.db"
    os.environ["MEMTRACE_STORE"] = f"sqlite:///{store}"
    memtrace("import", str(SAMPLE))
    verdicts = json.loads(memtrace("attribute", "--all", "--json"))
    pieces = {verdict["failureId"]: [loss["piece"] for loss in verdict["losses"]] for verdict in verdicts}
    failures = list(csv.DictReader(memtrace("failures", "--format", "csv").splitlines()))
    answers = json.loads(memtrace("answers", "--json"))
    memtrace("report", "-o", str(folder / "report.html"))
    print(f"An assistant with a memory was asked {len(answers)} questions; {len(failures)} of its answers are wrong:\n")
    for failure in failures:
        sure = f"{float(failure['confidence']):.0%} sure"
        print(f"{failure['question']}  →  {failure['prediction']}")
        print(f"    {error_type_name(failure['errorType'])} ({sure}): {failure['operation']} lost")
        print(f"    {' and '.join(f'“{piece}”' for piece in pieces[failure['id']])}\n")
    print(f"Look closer:     export PATH=.venv/bin:$PATH MEMTRACE_STORE={store}")
    print(f"                 memtrace why {failures[0]['id'][:8]}      the fact on its way, step by step")
    print("                 memtrace ui                the same as web pages")
    print(f"                 {folder / 'report.html'}          the same as one file")
    print("Your program:    memtrace run -- python app.py")
    print("Better prompts:  make demo-optimize")


def memtrace(*arguments: str) -> str:
    """The output of a command."""
    command = [sys.executable, "-m", "memtrace_platform", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8").stdout


if __name__ == "__main__":
    main()
