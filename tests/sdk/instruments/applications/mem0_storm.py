"""mem0 and OpenAI's client while the recorder is switched on and off: what the program gets stays the same."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import memtrace
import openai
from mem0 import Memory
from mem0.memory import main as mem0_main
from mem0_story import config, one_at_a_time, talk, write
from memtrace.exporters.memory import MemoryExporter
from openai import _base_client

USERS = 8
OWNERS = (Memory, _base_client.SyncAPIClient)
ORIGINALS = {(owner, name): value for owner in OWNERS for name, value in vars(owner).items() if callable(value)}
POOLS = mem0_main.concurrent if hasattr(mem0_main, "concurrent") else None

exporter = MemoryExporter()
memtrace.configure(exporter=exporter)


def served(memory, client, users):
    with ThreadPoolExecutor(len(users)) as pool:
        return list(pool.map(lambda user: [write(memory, user), list(talk(memory, client, user))], users))


def whole():
    ended = [event["operation"] for event in exporter.of("operationEnded")]
    return sorted(ended) == sorted(event["operation"] for event in exporter.of("operationStarted"))


def main():
    memory, client = one_at_a_time(Memory.from_config(config())), openai.OpenAI()
    plain = served(memory, client, [f"early{number}" for number in range(USERS)])
    stop = threading.Event()

    def switch():
        while not stop.is_set():
            memtrace.instrument("mem0", "openai")
            memtrace.uninstrument()

    with ThreadPoolExecutor(1) as pool:
        switching = pool.submit(switch)
        stormy = served(memory, client, [f"later{number}" for number in range(USERS)])
        stop.set()
        switching.result()
    found = {"right": json.dumps(stormy) == json.dumps(plain).replace("early", "later"), "whole": whole()}
    found["originals"] = all(vars(owner).get(name) is value for (owner, name), value in ORIGINALS.items())
    found["originals"] = found["originals"] and getattr(mem0_main, "concurrent", None) is POOLS
    exporter.events.clear()
    for _ in range(3):
        memtrace.instrument("mem0", "openai")
    talk(memory, client, "later0")
    found["once"] = sum(event["name"] == "mem0 search" for event in exporter.of("operationStarted"))
    memtrace.uninstrument()
    return found | {"faults": memtrace.fault_counts()}


if __name__ == "__main__":
    print(json.dumps(main()))
