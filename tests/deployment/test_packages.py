"""The two distributions, as docs/install.md installs them: what is in them; each works in a clean environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path
from shutil import copytree
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from api.web.explorer import explorer_routes
from api.web.vendor import MANIFEST, VENDOR
from tests.data import ROOT
from tests.test_docs import blocks

PACKAGES = ("api", "optimization", "attribution", "ingest", "schema", "store")
SENT = (
    *PACKAGES,
    "sdk",
    "examples/sample",
    "pyproject.toml",
    "memtrace_platform.py",
    "README.md",
    "LICENSE",
    ".gitignore",
)
SITE = Path(pytest.__file__).parents[1]
"""Where the packages lie that the platform needs."""

FROM_CHECKOUT, EDITABLE, FROM_WHEELS = blocks(ROOT / "docs" / "install.md", "shell")


class Environment:
    """A virtual environment that holds only the given packages."""

    def __init__(self, folder: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        self.folder = folder
        (self.site,) = (folder / "lib").glob("python*/site-packages")
        pip = folder / "bin" / "pip"
        pip.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pip --python "{folder}/bin/python" "$@"\n')
        pip.chmod(0o755)

    def lend(self, packages: Iterable[Path]) -> None:
        """Let it have packages that are installed elsewhere."""
        for package in packages:
            (self.site / package.name).symlink_to(package)

    def run(self, command: str, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a command of the shell as this environment's user would, without a network."""
        # pip reads PIP_NO_BUILD_ISOLATION=off as --no-build-isolation.
        offline = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "off", "PIP_NO_CACHE_DIR": "1"}
        return subprocess.run(
            ["/bin/sh", "-euc", command],
            cwd=cwd,
            env={"PATH": f"{self.folder / 'bin'}:{os.defpath}", "HOME": str(self.folder)} | offline | more,
            capture_output=True,
            text=True,
            check=False,
        )

    def succeed(self, command: str, cwd: Path) -> str:
        """What a command prints that ends well."""
        done = self.run(command, cwd)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def ours() -> Iterator[Path]:
    """All packages of this environment, but the two distributions that are tried."""
    for path in SITE.iterdir():
        if not re.search(r"memtrace|__pycache__|\.pth$", path.name):
            yield path


def needed(name: str, found: dict[str, Distribution]) -> dict[str, Distribution]:
    """A package of this environment with all its dependencies."""
    if name not in found:
        found[name] = distribution(name)
        for requirement in map(Requirement, found[name].requires or ()):
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                needed(canonicalize_name(requirement.name), found)
    return found


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of this project, as they are, in a folder that may be written to."""
    folder = tmp_path_factory.mktemp("checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *SENT],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.rstrip("\0").split("\0"):
        if (ROOT / name).exists():  # else it is deleted, and the index does not know yet
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    return folder


@pytest.fixture(scope="module")
def for_platform(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment that reaches what the platform needs, and neither distribution of this project."""
    environment = Environment(tmp_path_factory.mktemp("platform") / "env")
    environment.lend(ours())
    return environment


@pytest.fixture(scope="module")
def wheels(checkout: Path, for_platform: Environment) -> dict[str, ZipFile]:
    """Both wheels, made by the first command for them on that page."""
    for_platform.succeed(FROM_WHEELS.splitlines()[0], checkout)
    return {path.name.partition("-")[0]: ZipFile(path) for path in (checkout / "dist").iterdir()}


@pytest.fixture(scope="module")
def platform(checkout: Path, for_platform: Environment, wheels: dict[str, ZipFile]) -> Environment:
    """The platform, installed from the wheels."""
    for_platform.succeed("\n".join(FROM_WHEELS.splitlines()[1:]), checkout)
    return for_platform


def test_no_file_is_in_both(wheels: dict[str, ZipFile]) -> None:
    tops = {name: {file.partition("/")[0] for file in wheel.namelist()} for name, wheel in wheels.items()}
    assert tops == {
        "memtrace_recorder": {"memtrace", "memtrace_recorder-0.1.0.dist-info", "memtrace_recorder.pth"},
        "memtrace_platform": {*PACKAGES, "memtrace_platform.py", "memtrace_platform-0.1.0.dist-info"},
    }


def test_all_files_are_in_one(wheels: dict[str, ZipFile]) -> None:
    own = {name for wheel in wheels.values() for name in wheel.namelist()}
    for folder in (*PACKAGES, "sdk/memtrace"):
        for file in (ROOT / folder).rglob("*"):
            name = file.relative_to(ROOT).as_posix().removeprefix("sdk/")
            if file.is_file() and "__pycache__" not in file.parts and not name.startswith("api/web/graphiql/"):
                assert name in own
    for ending in (".cypher", ".sql", ".md", ".zst", ".html.j2", ".js", ".css", ".json", ".graphql"):
        assert [name for name in own if name.endswith(ending)], ending


def test_the_platform_has_what_its_pages_load(wheels: dict[str, ZipFile]) -> None:
    assert explorer_routes()  # reads all of it from the folder that is compared
    wheel, names = wheels["memtrace_platform"], set(wheels["memtrace_platform"].namelist())
    for file in VENDOR.parent.rglob("*"):
        if file.is_file():
            name = file.relative_to(ROOT).as_posix()
            assert wheel.read(name) == file.read_bytes()
            names.discard(name)
    assert not [name for name in names if name.startswith(("api/web/static", "api/web/graphiql"))]
    assert f"api/web/static/vendor/{MANIFEST}" not in names


def test_both_are_edited_in_place(checkout: Path, tmp_path: Path) -> None:
    """uv resolves what both need, from the packages that are lent."""
    environment = Environment(tmp_path / "env")
    environment.lend(one for one in ours() if one.suffix != ".dist-info")
    for described in SITE.glob("*.dist-info"):  # uv reads no such folder behind a link
        if not described.name.startswith("memtrace"):
            copytree(described, environment.site / described.name)
    (environment.folder / "bin" / "uv").symlink_to(Path(sys.executable).parent / "uv")
    # uv reads UV_NO_BUILD_ISOLATION=1 as --no-build-isolation.
    offline = {"UV_OFFLINE": "1", "UV_NO_BUILD_ISOLATION": "1", "VIRTUAL_ENV": str(environment.folder)}
    done = environment.run(EDITABLE, checkout, **offline)
    assert done.returncode == 0, done.stderr
    where = environment.succeed('python -c "import memtrace, api; print(memtrace.__file__, api.__file__)"', tmp_path)
    assert where.split() == [str(checkout / "sdk/memtrace/__init__.py"), str(checkout / "api/__init__.py")]


def test_the_platform_needs_this_recorder() -> None:
    platform = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    recorder = tomllib.loads((ROOT / "sdk" / "pyproject.toml").read_text("utf-8"))["project"]
    assert f"{recorder['name']}=={recorder['version']}" in platform["dependencies"]


def test_the_platform_works_from_its_wheel(platform: Environment, checkout: Path, tmp_path: Path) -> None:
    sample = checkout / "examples" / "sample" / "assistant.json"
    assert platform.succeed("memtrace --version", tmp_path) == "memtrace 0.1.0\n"
    where = "import api, memtrace; print(api.__file__, memtrace.__file__)"
    for place in platform.succeed(f'python -c "{where}"', tmp_path).split():
        assert Path(place).is_relative_to(platform.folder)
    platform.succeed(
        f"memtrace import {sample} && memtrace attribute --all && memtrace report -o report.html", tmp_path
    )
    assert "Mara" in (tmp_path / "report.html").read_text("utf-8")


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_that_hides_one_of_the_platform_is_named(platform: Environment, tmp_path: Path, name: str) -> None:
    other = tmp_path / name / "__init__.py"
    other.parent.mkdir()
    other.write_text("raise SystemExit('it was imported')\n")
    done = platform.run("memtrace --version", tmp_path, PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: another package named {name} hides the platform's: {other}. ")
    assert done.stderr.count("\n") == 1


def test_a_package_that_is_installed_over_one_is_named(platform: Environment, tmp_path: Path) -> None:
    file = platform.site / "schema" / "__init__.py"
    own = file.read_bytes()
    try:
        file.write_text("raise SystemExit('it was imported')\n")
        done = platform.run("memtrace --version", tmp_path)
        file.unlink()
        gone = platform.run("memtrace --version", tmp_path)
    finally:
        file.write_bytes(own)
    assert done.returncode == gone.returncode == 1
    assert f"another package named schema is installed over the platform's: {file}" in done.stderr
    assert "named schema hides the platform's" in gone.stderr


def test_another_package_with_the_name_of_the_recorder_is_named(platform: Environment, tmp_path: Path) -> None:
    (tmp_path / "memtrace").mkdir()
    (tmp_path / "memtrace" / "__init__.py").write_text("")
    done = platform.run("memtrace --version", tmp_path, PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert "error: another package named memtrace hides the recorder (memtrace-recorder)" in done.stderr


def test_both_install_from_a_checkout(checkout: Path, tmp_path: Path) -> None:
    environment = Environment(tmp_path / "env")
    environment.lend(ours())
    for command in FROM_CHECKOUT.splitlines():
        environment.succeed(command, checkout)
    assert environment.succeed("memtrace --version", tmp_path) == "memtrace 0.1.0\n"


def test_the_recorder_needs_httpx_and_pydantic_only(wheels: dict[str, ZipFile], tmp_path: Path) -> None:
    environment = Environment(tmp_path / "env")
    for one in needed("pydantic", needed("httpx", {})).values():
        tops = {file.parts[0] for file in one.files or ()} - {"..", "__pycache__"}
        environment.lend(Path(str(one.locate_file(top))) for top in tops)
    environment.succeed(f"pip install {wheels['memtrace_recorder'].filename}", tmp_path)
    assert "No broken requirements" in environment.succeed("pip check", tmp_path)
    (block,) = [block for block in blocks(ROOT / "docs" / "recording.md", "python") if "feedback(" in block]
    (tmp_path / "agent.py").write_text(block, "utf-8")
    said = environment.succeed("python agent.py", tmp_path)
    assert re.match(r"Bo\nFlushResult\(sent=[1-9]", said)
    done = environment.run("python -c 'import memtrace.notebook'", tmp_path)
    assert "install the extra notebook (memtrace-recorder[notebook])" in done.stderr
    for name in (*PACKAGES, "memtrace_platform"):
        assert environment.run(f"python -c 'import {name}'", tmp_path).returncode == 1
