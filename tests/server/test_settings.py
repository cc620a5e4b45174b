"""Sources of settings, and errors of invalid settings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import SecretStr

from api.settings import Settings
from api.settings.loading import load_settings
from schema.control import Role
from schema.errors import InputError
from tests.server.running import ROOT, sqlite_place


@pytest.fixture(autouse=True)
def _quiet_environment(quiet_environment: None) -> None:
    """Nothing of the caller's settings."""


def write(folder: Path, text: str) -> Path:
    path = folder / "memtrace.toml"
    path.write_text(text, "utf-8")
    return path


def test_nearer_sources_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, 'port = 1001\nhost = "::1"\nlog_level = "debug"\n')
    monkeypatch.setenv("MEMTRACE_PORT", "1002")
    monkeypatch.setenv("MEMTRACE_HOST", "127.0.0.2")
    found = load_settings(path, {"port": 1003, "values": None})
    assert (found.port, found.host, found.log_level, found.values) == (1003, "127.0.0.2", "debug", None)
    assert type(found) is Settings


def test_the_environment_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTRACE_CONFIG", str(write(tmp_path, "port = 1001\n")))
    assert load_settings().port == 1001


def test_an_empty_variable_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTRACE_PORT", "")
    assert load_settings().port == 8080


def test_lists_and_grants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTRACE_CORS_ORIGINS", "https://a.example, http://b.example:8000")
    path = write(tmp_path, '[oidc_grants.analysts]\nshop = "reader"\n')
    found = load_settings(path)
    assert found.cors_origins == ("https://a.example", "http://b.example:8000")
    assert found.oidc_grants == {"analysts": {"shop": Role.READER}}
    monkeypatch.setenv("MEMTRACE_OIDC_GRANTS", '{"admins": {"shop": "admin"}}')
    assert load_settings().oidc_grants == {"admins": {"shop": Role.ADMIN}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("prot = 1\n", "prot: there is no such setting"),
        ("port = true\nport = 2\n", "the settings are not TOML"),
        ("port = 70000\n", "port: Input should be less than or equal to 65535"),
        ('neo4j_password = "open sesame"\n', "neo4j_password: a secret does not stand here"),
        (
            '[oidc_grants.g]\nshop = "boss"\n',
            "oidc_grants.g.shop: Input should be 'reader', 'annotator', 'writer' or 'admin'",
        ),
        ('rate_limit = "often"\n', "rate_limit: write a count and one of"),
        ('cors_origins = ["*"]\n', "cors_origins: '*' is not an origin"),
        ('oidc_issuer = "http://login.example"\n', "oidc_issuer: an issuer needs https://"),
        ('oidc_issuer = "https://login.example"\n', "oidc_issuer needs oidc_audience too"),
        ("trusted_documents_only = true\n", "trusted_documents_only needs trusted_documents too"),
        ('store = "neo4j://me:open sesame@host"\n', "store: write the URI without user and password"),
        ('otlp_endpoint = "https://me:open sesame@host"\n', "otlp_endpoint: write the URI without user and password"),
    ],
)
def test_what_a_file_has_wrong(tmp_path: Path, text: str, said: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError) as raised:
        load_settings(path)
    assert said in str(raised.value)
    assert "sesame" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_it_says_where_a_setting_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "port = -1\n")
    with pytest.raises(InputError, match=re.escape(f"{path}: port: ")):
        load_settings(path)
    monkeypatch.setenv("MEMTRACE_PORT", "-2")
    with pytest.raises(InputError, match=r"^MEMTRACE_PORT: "):
        load_settings(path)
    with pytest.raises(InputError, match=r"^--port: "):
        load_settings(path, {"port": -3})


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be read: No such file"):
        load_settings(tmp_path / "nowhere.toml")
    (tmp_path / "latin.toml").write_bytes(b'host = "\xe4"\n')
    with pytest.raises(InputError, match="not UTF-8"):
        load_settings(tmp_path / "latin.toml")


def test_a_password_never_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTRACE_NEO4J_PASSWORD", "open sesame")
    found = load_settings()
    assert found.neo4j_password == SecretStr("open sesame")
    assert "sesame" not in f"{found!r} {found}"


def test_bad_settings_end_the_command(tmp_path: Path) -> None:
    done = sqlite_place(tmp_path).memtrace("serve", rate_limit="often")
    assert done.returncode == 2
    assert done.stderr.startswith("error: MEMTRACE_RATE_LIMIT: write a count")
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_every_setting_is_documented() -> None:
    page = (ROOT / "docs" / "server.md").read_text("utf-8")
    missing = [name for name in Settings.model_fields if f"`{name}`" not in page]
    assert not missing


def test_the_page_of_limits_names_settings_that_are_there() -> None:
    rows = re.findall(
        r"^\| .+? \| (.*?) \| .*? \| .* \|$", (ROOT / "docs" / "limits.md").read_text("utf-8"), re.MULTILINE
    )
    named = {name for cell in rows for name in re.findall(r"`(\w+)`", cell)}
    assert named <= set(Settings.model_fields)
    bounds = {name for name in Settings.model_fields if name.startswith(("max_", "graphql_"))}
    assert bounds <= named, "a bound that the page does not tell"
