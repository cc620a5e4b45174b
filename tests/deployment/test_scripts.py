"""The shell scripts of the image and of the secrets, run by a real shell."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.data import ROOT
from tests.deployment.compose import compose

SHELL = "/bin/sh"


def make_secrets(folder: Path) -> subprocess.CompletedProcess[str]:
    command: list[str | Path] = [SHELL, ROOT / "docker" / "secrets.sh", folder]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def read(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in folder.iterdir()}


def test_secrets_are_those_of_the_compose_file(tmp_path: Path) -> None:
    done = make_secrets(tmp_path / "secrets")
    assert done.returncode == 0, done.stderr
    found = read(tmp_path / "secrets")
    assert found.keys() == {Path(secret["file"]).name for secret in compose()["secrets"].values()}
    password = found["neo4j_password.txt"].strip()
    assert found["neo4j_auth.txt"].strip() == f"neo4j/{password}"
    password_of_nats = found["nats_password.txt"].strip()
    assert found["nats_user.conf"] == f'authorization {{ user: "memtrace", password: "{password_of_nats}" }}\n'
    (identity,) = json.loads(found["s3_identities.json"])["identities"]
    keys = {"accessKey": found["s3_access_key.txt"].strip(), "secretKey": found["s3_secret_key.txt"].strip()}
    assert identity["credentials"] == [keys]
    assert all(action.endswith(":memtrace") for action in identity["actions"])
    assert [len(secret) for secret in (password, *keys.values())] == [48, 20, 64]
    assert not any(secret in done.stdout + done.stderr for secret in (password, *keys.values()))


def test_secrets_are_random_and_stay(tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert make_secrets(tmp_path / name).returncode == 0
    one, two = read(tmp_path / "one"), read(tmp_path / "two")
    assert not set(one.values()) & set(two.values())
    again = make_secrets(tmp_path / "one")
    assert again.returncode == 1
    assert again.stderr.startswith("error: ")
    assert read(tmp_path / "one") == one
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


def test_secrets_are_open_to_services_only(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    make_secrets(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o444}


@pytest.fixture
def entrypoint(tmp_path: Path) -> Path:
    """The entry point, before a program that says what it was given."""
    for folder in ("bin", "entrypoint"):
        (tmp_path / folder).mkdir()
    program = tmp_path / "bin" / "memtrace"
    program.write_text(f'#!{SHELL}\nenv | grep ^AWS_ | sort\nprintf "<%s>" "$@"\nexit 7\n')
    program.chmod(0o755)
    entrypoint = tmp_path / "entrypoint" / "memtrace"
    entrypoint.write_bytes((ROOT / "docker" / "entrypoint.sh").read_bytes())
    entrypoint.chmod(0o755)
    return entrypoint


def enter(entrypoint: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [entrypoint, *arguments],
        env={"PATH": os.defpath} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_keys_come_from_files(entrypoint: Path, tmp_path: Path) -> None:
    (tmp_path / "id").write_text("an id\n", "utf-8")
    (tmp_path / "secret").write_text("$(x)\"'`;\\n", "utf-8")
    files = {"AWS_ACCESS_KEY_ID_FILE": str(tmp_path / "id"), "AWS_SECRET_ACCESS_KEY_FILE": str(tmp_path / "secret")}
    done = enter(entrypoint, "serve", "a b", "", **files)
    assert done.stdout == "AWS_ACCESS_KEY_ID=an id\nAWS_SECRET_ACCESS_KEY=$(x)\"'`;\\n\n<serve><a b><>"
    assert (done.stderr, done.returncode) == ("", 7)


def test_keys_of_the_environment_are_passed_on(entrypoint: Path) -> None:
    done = enter(entrypoint, "migrate", AWS_ACCESS_KEY_ID="id", AWS_REGION="here")
    assert done.stdout == "AWS_ACCESS_KEY_ID=id\nAWS_REGION=here\n<migrate>"


@pytest.mark.parametrize(
    ("content", "more", "problem"),
    [
        (None, {}, "can't be read"),
        ("\n", {}, "is empty"),
        ("file-key", {"AWS_SECRET_ACCESS_KEY": "given-key"}, "are both set"),
    ],
)
def test_keys_that_cannot_be_used(
    entrypoint: Path, tmp_path: Path, content: str | None, more: dict[str, str], problem: str
) -> None:
    file = tmp_path / "secret"
    if content is not None:
        file.write_text(content, "utf-8")
    done = enter(entrypoint, "serve", AWS_SECRET_ACCESS_KEY_FILE=str(file), **more)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: AWS_SECRET_ACCESS_KEY")
    assert problem in done.stderr
    assert done.stderr.count("\n") == 1
    assert "-key" not in done.stderr
