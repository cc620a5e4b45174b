"""The home folder of a local Neo4j server: its state, password and settings."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from api.local_servers.neo4j.distribution import check_version
from api.local_servers.neo4j.errors import LocalNeo4jError
from api.local_servers.neo4j.home import Home, State


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    made.make()
    made.fill()
    return made


def settings(home: Home, *arguments: object) -> dict[str, str]:
    home.write_settings(*arguments)  # type: ignore[arg-type]
    lines = (home.path / "conf" / "neo4j.conf").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if not line.startswith("#"))


def test_a_folder_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".hidden").touch()
    Home(tmp_path).make()
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(LocalNeo4jError, match=r"is not the home .* \(it holds thesis\.txt\)"):
        Home(tmp_path).make()
    Home(tmp_path).write_state(State("5.26.0"))
    Home(tmp_path).make()


def test_a_file_is_no_home(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(LocalNeo4jError, match="can't be used"):
        Home(file).make()
    assert Home(file).read_state() is None


def test_the_state_comes_back(home: Home) -> None:
    assert home.read_state() is None
    for state in (State("5.26.0"), State("2025.1.0", 7687, 7474, 12, 1.5)):
        home.write_state(state)
        assert home.read_state() == state
    assert stat.S_IMODE((home.path / "server.json").stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}', '{"version": "5", "other": 1}'])
def test_a_damaged_state_is_told(home: Home, text: str) -> None:
    (home.path / "server.json").write_text(text)
    with pytest.raises(LocalNeo4jError, match=r"server\.json is damaged"):
        home.read_state()


def test_a_password_is_made_once(home: Home) -> None:
    password = home.password()
    assert len(password) == 40
    assert home.password() == password
    assert stat.S_IMODE(home.password_file.stat().st_mode) == 0o600
    home.password_file.write_text("own words\n")
    assert home.password() == "own words"


@pytest.mark.parametrize("text", [None, "", " \n"])
def test_no_password_is_made_beside_data(home: Home, text: str | None) -> None:
    if text is not None:
        home.password_file.write_text(text)
    (home.path / "data" / "databases" / "system").mkdir(parents=True)
    assert home.has_data()
    with pytest.raises(LocalNeo4jError, match="is missing or empty, but the data"):
        home.password()


@pytest.mark.parametrize(
    ("heap", "one", "all_"),
    [("1g", 1 << 18, (1 << 20) * 7 // 10), ("512m", 1 << 17, 367_001), ("2G", 1 << 19, 1_468_006), ("800k", 200, 560)],
)
def test_transactions_take_a_part_of_the_heap(home: Home, heap: str, one: int, all_: int) -> None:
    found = settings(home, 7687, None, heap, "64m")
    assert found["db.memory.transaction.max"] == f"{one}k"
    assert found["dbms.memory.transaction.total.max"] == f"{all_}k"
    assert found["server.memory.pagecache.size"] == "64m"


@pytest.mark.parametrize("http_port", [None, 7474])
def test_a_server_listens_on_this_machine_only(home: Home, http_port: int | None) -> None:
    found = settings(home, 7687, http_port, "1g", "64m")
    http = {} if http_port is None else {f"server.http.{what}_address": "127.0.0.1:7474" for what in _ADDRESSES}
    expected = {f"server.bolt.{what}_address": "127.0.0.1:7687" for what in _ADDRESSES} | http
    assert {name: said for name, said in found.items() if name.endswith("_address")} == expected
    assert found["dbms.security.auth_enabled"] == "true"
    assert found["server.https.enabled"] == "false"
    assert found["server.http.enabled"] == ("false" if http_port is None else "true")


_ADDRESSES = ("listen", "advertised")


def test_the_last_lines_of_the_logs(home: Home) -> None:
    assert home.log_tail() == ""
    (home.path / "logs" / "neo4j.log").write_text("a\nb\nc\n")
    assert home.log_tail(2) == "b\nc"
    home.console_log.write_bytes(b"d\n\xff\n")
    assert home.log_tail(1) == "c\n\ufffd"


@pytest.mark.parametrize(
    ("version", "is_known"),
    [("5.26.0", True), ("5.26.12", True), ("5.25.9", False), ("4.4.0", False), ("2025.1.0", True)],
)
def test_the_oldest_version(version: str, is_known: bool) -> None:
    if is_known:
        check_version(version)
        return
    with pytest.raises(LocalNeo4jError):
        check_version(version)
