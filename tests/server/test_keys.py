"""API keys: made, used, listed, revoked, expired; on both engines."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from secrets import token_hex

import httpx
import pytest

from api.auth.keys import is_genuine, make_key, mask_keys, parse_key
from api.auth.known import KnownKeys, LastUses
from api.auth.verify import Verifier
from api.errors import UnauthenticatedError
from api.settings.loading import open_store
from attribution.verdicts.verdict import Method
from schema.control import ApiKey, AuditEntry, Role
from schema.errors import InputError, StoreError
from schema.kinds import HUMAN_METHOD
from schema.people import MAX_NAME, check_person
from store.contract.protocol import Database
from store.contract.records import Registry
from tests.server.running import Place, RunningServer, running

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def new_project() -> str:
    return f"keys-{token_hex(4)}"


def test_the_form_of_a_key() -> None:
    text, kept = make_key("shop", "ci", Role.WRITER, "command line", NOW)
    presented = parse_key(text)
    assert presented is not None
    assert is_genuine(presented, kept)
    assert presented.secret not in repr(presented) + repr(kept)
    assert (kept.project_id, kept.role, len(kept.id)) == ("shop", Role.WRITER, 16)
    other, _ = make_key("shop", "ci", Role.WRITER, "command line", NOW)
    assert other != text
    assert not is_genuine(presented, None)
    wrong = parse_key(text[:-1] + ("A" if text[-1] != "A" else "B"))
    assert wrong is not None
    assert not is_genuine(wrong, kept)


@pytest.mark.parametrize("text", ["", "mt_", "mt_0_x", "sk-" + "a" * 60, "mt_" + "G" * 16 + "_" + "a" * 43])
def test_what_is_no_key(text: str) -> None:
    assert parse_key(text) is None


def test_masked_in_any_text() -> None:
    text, kept = make_key("shop", "ci", Role.WRITER, "command line", NOW)
    masked = mask_keys(f"before {text} after")
    assert masked == f"before mt_{kept.id}_… after"


async def verified(verifier: Verifier, text: str) -> dict[str, Role]:
    return dict((await verifier.verify(f"Bearer {text}")).grants)


@pytest.mark.one_engine
async def test_an_author_is_a_person_not_a_key(database: Database) -> None:
    """Two keys of a person are one author; without a person it is the key's name, and without a name the key."""
    project, now = new_project(), datetime.now(UTC)
    verifier = Verifier(database.registry(), "1000/minute")
    for name, person, author in (
        ("laptop", "Ada", "Ada"),
        ("ci", "Ada", "Ada"),
        ("bot", None, "bot"),
        ("", None, None),
    ):
        text, kept = make_key(project, name, Role.WRITER, "command line", now, person=person)
        await database.records(project).add_key(kept)
        principal = await verifier.verify(f"Bearer {text}")
        assert principal.author == (author or f"key:{kept.id}")
        assert principal.actor == f"key:{kept.id}"


@pytest.mark.parametrize("person", ["", "human", "flow", " Ada", "Ada\n", "x" * 201, "A\x00da"])
def test_nobody_is_called_so(person: str) -> None:
    with pytest.raises(InputError):
        make_key("shop", "ci", Role.WRITER, "command line", NOW, person=person)


def test_the_longest_name_is_a_name() -> None:
    check_person("x" * MAX_NAME, "key", "person")


def test_no_person_has_the_name_of_a_method() -> None:
    """Verdicts are looked up by author and by method alike."""
    for method in (*Method, HUMAN_METHOD):
        with pytest.raises(InputError, match="is a method"):
            check_person(method, "key", "person")


async def test_verified(database: Database) -> None:
    project = new_project()
    now = datetime.now(UTC)
    text, kept = make_key(project, "ci", Role.WRITER, "command line", now, now + timedelta(days=1))
    old_text, old = make_key(project, "old", Role.ADMIN, "command line", now - timedelta(2), now - timedelta(1))
    gone_text, gone = make_key(project, "gone", Role.ADMIN, "command line", now)
    for key in (kept, old, gone):
        await database.records(project).add_key(key)
    await database.records(project).revoke_key(gone.id, now)
    verifier = Verifier(database.registry(), "1000/minute")
    assert await verified(verifier, text) == {project: Role.WRITER}
    principal = await verifier.verify(f"bearer {text}")
    assert (principal.actor, principal.expires_at) == (f"key:{kept.id}", kept.expires_at)
    for refused in (
        None,
        "",
        "Bearer",
        text,
        f"Basic {text}",
        f"Bearer {text}x",
        f"Bearer {text[:-2]}AA",
        f"Bearer mt_{'0' * 16}_{'a' * 43}",
        f"Bearer {old_text}",
        f"Bearer {gone_text}",
        "Bearer " + "x" * 100_000,
        "Bearer a.b.c",
    ):
        with pytest.raises(UnauthenticatedError):
            await verifier.verify(refused)
    await verifier.stop()
    (found,) = [key for key in (await database.records(project).keys()).items if key.id == kept.id]
    assert found.last_used_at is not None
    assert now <= found.last_used_at <= datetime.now(UTC)


class Asked:
    """What keys a registry is asked for; it can be sent away."""

    def __init__(self, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
        self._answer = registry.key
        self.keys: list[str] = []
        self.is_away = False
        monkeypatch.setattr(registry, "key", self._key)

    async def _key(self, key_id: str) -> ApiKey | None:
        self.keys.append(key_id)
        if self.is_away:
            raise StoreError("away")
        return await self._answer(key_id)


@pytest.mark.one_engine
async def test_lookups_are_kept_for_a_moment(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    project = new_project()
    _, kept = make_key(project, "ci", Role.READER, "command line", datetime.now(UTC))
    await database.records(project).add_key(kept)
    registry = database.registry()
    asked = Asked(registry, monkeypatch)
    keys = KnownKeys(registry, seconds=3600)
    assert await keys.get(kept.id) == await keys.get(kept.id) == kept
    assert await keys.get("0" * 16) is await keys.get("0" * 16) is None
    assert asked.keys == [kept.id, "0" * 16]
    forgetful = KnownKeys(registry, seconds=0)
    revoked = await database.records(project).revoke_key(kept.id, datetime.now(UTC))
    assert await forgetful.get(kept.id) == revoked


@pytest.mark.one_engine
async def test_a_good_key_is_believed_for_a_while_when_the_store_is_away(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = new_project()
    _, kept = make_key(project, "ci", Role.WRITER, "command line", datetime.now(UTC))
    await database.records(project).add_key(kept)
    registry = database.registry()
    asked = Asked(registry, monkeypatch)
    keys = KnownKeys(registry, seconds=0)
    assert await keys.get(kept.id) == kept
    assert await keys.get("0" * 16) is None
    asked.is_away = True
    assert await keys.get(kept.id) == await keys.get(kept.id) == kept
    for stranger in ("0" * 16, "1" * 16):
        with pytest.raises(StoreError):
            await keys.get(stranger)
    monkeypatch.setattr("api.auth.known.AWAY_SECONDS", 0.0)
    with pytest.raises(StoreError):
        await keys.get(kept.id)
    asked.is_away = False
    revoked = await database.records(project).revoke_key(kept.id, datetime.now(UTC))
    assert await keys.get(kept.id) == revoked


@pytest.mark.one_engine
async def test_last_uses_are_told_at_the_end(database: Database) -> None:
    project = new_project()
    _, kept = make_key(project, "ci", Role.READER, "command line", datetime.now(UTC))
    await database.records(project).add_key(kept)
    uses = LastUses(database.registry(), seconds=3600)
    uses.start()
    at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    uses.note(kept.id, at)
    await uses.stop()
    assert (await database.records(project).keys()).items[0].last_used_at == at


def test_life_of_a_key(place: Place, server: RunningServer) -> None:
    project = new_project()
    made = json.loads(
        place.memtrace(
            "keys", "create", "--json", "--project", project, "--name", "ci", "--role", "writer", "--expires", "3"
        ).stdout
    )
    assert (made["role"], made["state"], made["projectId"], made["name"]) == ("writer", "active", project, "ci")
    headers = {"Authorization": f"Bearer {made['key']}"}
    with httpx.Client(base_url=server.url, headers=headers, timeout=300) as client:
        assert client.get("/v1/export/nothing").status_code == 404
    listed = place.here("keys", "list", "--json", "--project", project).stdout
    assert [key["id"] for key in json.loads(listed)] == [made["id"]]
    assert made["key"] not in listed
    assert json.loads(place.here("keys", "list", "--json", "--project", new_project()).stdout) == []
    shown = place.here("keys", "list", "--project", project).stdout
    assert made["id"] in shown
    assert "writer" in shown
    foreign = place.here("keys", "revoke", made["id"], "--project", new_project())
    assert foreign.returncode == 3
    revoked = place.here("keys", "revoke", made["id"], "--json", "--project", project)
    assert json.loads(revoked.stdout)["state"] == "revoked"
    again = place.here("keys", "revoke", made["id"], "--json", "--project", project)
    assert json.loads(again.stdout)["revokedAt"] == json.loads(revoked.stdout)["revokedAt"]
    with running(place, server.folder, job_concurrency=0) as fresh:
        answer = httpx.get(f"{fresh.url}/v1/export/nothing", headers=headers, timeout=300)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.one_engine
def test_it_is_shown_once_and_alone(place: Place) -> None:
    done = place.here("keys", "create", "--project", new_project())
    assert parse_key(done.stdout.strip()) is not None
    assert "reader" in done.stderr
    assert done.stdout.strip() not in done.stderr


@pytest.mark.one_engine
def test_made_keys_are_audited(place: Place) -> None:
    project = new_project()
    key_id = json.loads(place.here("keys", "create", "--json", "--project", project).stdout)["id"]
    assert place.here("keys", "revoke", key_id, "--project", project).returncode == 0

    async def audit() -> list[AuditEntry]:
        async with await open_store(place.settings()) as database:
            return (await database.records(project).audit()).items

    entries = asyncio.run(audit())
    done = [(entry.actor, entry.action, entry.target, entry.outcome) for entry in reversed(entries)]
    assert done == [("command line", "createKey", key_id, "ok"), ("command line", "revokeKey", key_id, "ok")]
