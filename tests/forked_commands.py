"""Commands of ``memtrace`` that fork a process which has imported the command line: a fork costs a tenth of a start.

``python -m tests.forked_commands SOCKET`` waits for commands at a socket. ``CLIENT`` is a program that sends a command
with its arguments, folder, environment and standard streams, and ends with the command's exit code. Signals to the
client don't reach the command.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.data import ROOT

CLIENT = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as door:
    door.connect({socket!r})
    said = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(door, [len(said).to_bytes(4, "big")], [0, 1, 2])
    door.sendall(said)
    code = door.recv(1)
    sys.exit(code[0] if code else 70)
"""


@contextmanager
def forked_commands(folder: Path) -> Iterator[str]:
    """The text of a program that can stand for ``memtrace`` until the end of the block.

    Args:
        folder: where to put the socket; its path must be short.
    """
    path = folder / "commands"
    process = subprocess.Popen([sys.executable, "-m", "tests.forked_commands", str(path)], cwd=ROOT)
    try:
        while not path.exists():
            assert process.poll() is None
            time.sleep(0.01)
        yield CLIENT.format(python=sys.executable, socket=str(path))
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    """Answer each client in a process of its own, until the process is ended."""
    from api.cli.main import command_line

    command_line()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks
    waiting, path = socket.socket(socket.AF_UNIX), Path(sys.argv[1])
    waiting.bind(str(path.with_suffix(".new")))
    waiting.listen(100)
    path.with_suffix(".new").rename(path)
    while True:
        client, _ = waiting.accept()
        if os.fork() == 0:
            waiting.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _answer(client)
        client.close()


def _answer(client: socket.socket) -> None:
    from memtrace_platform import run as memtrace

    code = 1
    try:
        size, streams, _, _ = socket.recv_fds(client, 4, 3)
        with client.makefile("rb") as reader:
            arguments, folder, environment = json.loads(reader.read(int.from_bytes(size, "big")))
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        # Python remembers of the old streams whether they were files.
        sys.stdin, sys.stdout, sys.stderr = (
            os.fdopen(number, mode, closefd=False) for number, mode in enumerate(("r", "w", "w"))
        )
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = ["memtrace", *arguments]
        try:
            memtrace()
            code = 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
            if isinstance(ended.code, str):
                sys.stderr.write(f"{ended.code}\n")
        sys.stdout.flush()
        sys.stderr.flush()
        client.sendall(bytes([code]))
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
