"""All that the forms of the pages answer: what a person does one after the other, and what each page then shows."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
import time_machine

from store.open import open_database
from tests.expected import compare
from tests.fixed_project import NAMES, NOW, PROJECT, TRACES, id_of, write_fixed
from tests.web.inside import outline, pages

BASE = f"/ui/projects/{PROJECT}"
FAILURE = TRACES[4].failures[0].id
UPDATE = TRACES[4].attributions[0].operation_id or ""
HEADERS = {"Origin": "http://memtrace"}
JUDGED = {"type": "UpdateError", "operation": UPDATE, "reason": "it was overwritten"}

Act = tuple[str, str, dict[str, str]]
VERDICTS: list[Act] = [
    ("no kind of error", f"{BASE}/failures/{FAILURE}/verdict", {"reason": "so"}),
    ("no operation", f"{BASE}/failures/{FAILURE}/verdict", {"type": "UpdateError"}),
    ("an operation of nothing", f"{BASE}/failures/{FAILURE}/verdict", {"type": "UpdateError", "operation": "0" * 32}),
    ("a verdict", f"{BASE}/failures/{FAILURE}/verdict", JUDGED | {"also-type-0": "AnnotationError"}),
    ("another verdict", f"{BASE}/failures/{FAILURE}/verdict", {"type": "unknown", "reason": "I can't tell"}),
    ("no such failure", f"{BASE}/failures/{'0' * 32}/verdict", JUDGED),
    ("a right answer", f"{BASE}/answers/{TRACES[0].failures[0].answer_id}/right", {}),
    ("a wrong answer", f"{BASE}/answers/{TRACES[1].variables[-1].id}/wrong", {"gold": "this\r\n\r\n or that "}),
    ("no answer", f"{BASE}/answers/{id_of('Variable note')}/wrong", {"gold": "this"}),
]
SETTINGS: list[Act] = [
    ("days that are no number", f"{BASE}/settings/retention", {"days": "many"}),
    ("too many traces", f"{BASE}/settings/retention", {"traces": "9" * 11}),
    ("nothing to keep", f"{BASE}/settings/retention", {"days": "", "traces": " "}),
    ("retention", f"{BASE}/settings/retention", {"days": "30", "traces": " 100 "}),
    ("a key without a name", f"{BASE}/keys/new", {"role": "writer"}),
    ("a key without a role", f"{BASE}/keys/new", {"name": "for Ana", "role": "boss"}),
    ("a key for a year too long", f"{BASE}/keys/new", {"name": "for Ana", "role": "writer", "days": "99999"}),
    ("a key", f"{BASE}/keys/new", {"name": "for Ana", "role": "writer", "person": "Ana", "days": "30"}),
    ("an invitation of nobody", f"{BASE}/invitations/new", {"role": "annotator", "days": "3"}),
    ("an invitation for nothing", f"{BASE}/invitations/new", {"person": "Ben", "role": "king", "days": "3"}),
    ("an invitation for no days", f"{BASE}/invitations/new", {"person": "Ben", "role": "annotator", "days": "0"}),
    ("an invitation", f"{BASE}/invitations/new", {"person": "Ben", "role": "annotator", "days": "3"}),
    ("the invitation is withdrawn", "{newest}", {}),
    ("the key is revoked", "{newest}", {}),
    ("no such key", f"{BASE}/keys/{'0' * 16}/revoke", {}),
    ("an attribution", f"{BASE}/jobs/attribute", {}),
]
WISH = {"name": "monday", "ordering": "random", "count": "2", "annotators": "1", "minutes": "30"}
QUEUES: list[Act] = [
    ("too many cases", f"{BASE}/queues/new", WISH | {"count": "0"}),
    ("no order", f"{BASE}/queues/new", WISH | {"ordering": "by luck"}),
    ("no name", f"{BASE}/queues/new", WISH | {"name": " "}),
    ("a queue", f"{BASE}/queues/new", WISH),
    ("the same name", f"{BASE}/queues/new", WISH),
    ("a case", "{queue}/next", {}),
    ("no verdict", "{case}/verdict", {"reason": "so"}),
    ("an own verdict", "{case}/verdict", {"type": "AnnotationError", "reason": "the label is wrong"}),
    ("taken back", "{queue}/undo", {}),
    ("left out", "{case}/skip", {}),
    ("taken back again", "{case}/undo", {}),
    ("judged again", "{case}/verdict", {"type": "unknown"}),
    ("no labels", "{queue}/import", {"labels": " "}),
    ("labels that are none", "{queue}/import", {"labels": '{"query_id": "x"}'}),
    ("the end", "{queue}/close", {}),
    ("after the end", "{queue}/next", {}),
    ("gone", "{queue}/delete", {}),
]
INVITED: list[Act] = [
    ("an invitation", f"{BASE}/invitations/new", {"person": "Ben", "role": "annotator", "days": "3"}),
    ("a code that is none", "/ui/invitation", {"code": "nonsense", "next": "/ui/help"}),
    ("another's code", "/ui/invitation", {"code": f"mi_{'0' * 16}_{'x' * 43}", "next": "/ui/help"}),
    ("the code", "/ui/invitation", {"code": "{code}", "next": "/ui/help"}),
    ("the code again", "/ui/invitation", {"code": "{code}", "next": "/ui/help"}),
    ("no key", "/ui/sign-in", {"key": " ", "next": BASE}),
    ("two keys", "/ui/sign-in", {"key": "a b", "next": BASE}),
    ("a key that is none", "/ui/sign-in", {"key": "mt_nonsense", "next": BASE}),
    ("a key of nobody", "/ui/sign-in", {"key": f"mt_{'0' * 16}_{'x' * 43}", "next": BASE}),
    ("the key", "/ui/sign-in", {"key": "{key}", "next": BASE}),
    ("to another site", "/ui/sign-in", {"key": "{key}", "next": "https://elsewhere/ui"}),
    ("a code of no program", "/ui/open", {"code": "nonsense"}),
    ("the end", "/ui/sign-out", {}),
]
ACTS = {"invited": INVITED, "verdicts": VERDICTS, "settings": SETTINGS, "queues": QUEUES}


def _told(answer: httpx.Response) -> str:
    text = outline(answer.text) if answer.headers.get("content-type", "").startswith("text/html") else answer.text
    text = text[text.index("<main>") :] if "<main>" in text else text
    text = re.sub(r"\bmt[a-z]?_[\w-]+", "a secret", text)
    text = re.sub(r"#[\w-]{20,}", "#a code", text)
    text = re.sub(r"(\d+ minutes, until|closed on) [^.]*UTC", r"a time of the store's own clock", text)
    text = re.sub(r"\b[0-9a-f]{16}\b", "the key", text)
    cookies = re.sub(r"=mt_[^;]*", "=a secret", answer.headers.get("set-cookie", ""))
    return f"{answer.status_code} {answer.headers.get('location', '')} {cookies}".rstrip() + f"\n{text}"


@pytest.mark.parametrize("name", ACTS)
async def test_acts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr("attribution.review.annotation.queues.token_hex", lambda *_: "seed")
    told = []
    queue = case = code = newest = ""
    with time_machine.travel(NOW, tick=False) as clock:
        async with await open_database(f"sqlite:///{tmp_path / 'test.db'}") as database:
            await write_fixed(database)
            async with pages(database, tmp_path, PROJECT) as client:
                key = client.headers["cookie"].partition("=")[2]
                for number, (act, address, form) in enumerate(ACTS[name], 1):
                    clock.move_to(NOW + timedelta(minutes=number))
                    sent = {field: text.replace("{code}", code).replace("{key}", key) for field, text in form.items()}
                    answer = await client.post(
                        address.format(queue=queue, case=case, newest=newest), data=sent, headers=HEADERS
                    )
                    told.append(f"##### {act}\n{_told(answer)}")
                    code = (re.findall(r"/ui/invitation\?[^#]*#([\w-]+)", answer.text) or [code])[0]
                    there = answer.headers.get("location", "").partition("?")[0]
                    queue = there if re.fullmatch(r".*/queues/[^/]+", there) and not queue else queue
                    case = there if "/cases/" in there else case
                    if there and answer.status_code == 303:
                        answer = await client.get(answer.headers["location"])
                        told.append(f"##### after {act}\n{_told(answer)}")
                    newest = (re.findall(r'action="([^"]*/keys/[\w-]+/revoke)"', answer.text) or [newest])[0]
    compare(__file__, f"{name}.txt", "\n".join(told), NAMES)
