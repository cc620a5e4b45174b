"""An OpenID Connect issuer at which browsers sign in: the authorization code flow, with all that it must check.

It is called ``localhost``: another site than 127.0.0.1 to a browser, as an issuer is another site than the pages.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from secrets import token_urlsafe
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.server.oidc_issuer import Issuer

CLIENT, SECRET = "memtrace-pages", "s3cret & more"
_SESSION = "issuer-session"
_FORM = """<!doctype html><link rel="icon" href="data:,"><form method="post">{fields}
<label>Name <input name="user"></label><button>Log in</button><button name="no">Refuse</button></form>"""


class SigningIssuer(Issuer):
    """Signs people in, and gives tokens for codes.

    Attributes:
        redirect_uri: the only allowed address for browsers.
        forms: the forms of requests with codes.
        changed: wrong claims for the next tokens.
        wrong_state: whether browsers get another state.
        iss: the issuer's name in the answer.
    """

    def __init__(self) -> None:
        self.redirect_uri = ""
        self.forms: list[dict[str, str]] = []
        self.changed: dict[str, Any] = {}
        self.wrong_state = False
        self._codes: dict[str, dict[str, str]] = {}
        super().__init__("localhost")
        self.iss = self.url

    def _answer(self, path: str) -> Any:
        found = super()._answer(path)
        if path == "/.well-known/openid-configuration" and path not in self.answers:
            found |= {
                "authorization_endpoint": f"{self.url}/authorize?tenant=a",
                "token_endpoint": f"{self.url}/token",
                "response_types_supported": ["code"],
            }
        return found

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        issuer, plain = self, super()._handler()

        class Handler(plain):  # type: ignore[valid-type,misc]
            def do_GET(self) -> None:  # noqa: N802
                if not self.path.startswith("/authorize"):
                    super().do_GET()
                    return
                asked = dict(parse_qsl(urlsplit(self.path).query))
                issuer.asked.append("/authorize")
                problem = issuer._problem_of(asked)
                known = (self.headers.get("Cookie") or "").partition(f"{_SESSION}=")[2]
                if problem:
                    self._say(400, problem.encode())
                elif known:
                    self._leave(asked, known)
                else:
                    self._say(200, _FORM.format(fields="".join(map(_hidden, asked.items()))).encode())

            def do_POST(self) -> None:  # noqa: N802
                sent = dict(
                    parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode(), keep_blank_values=True)
                )
                if self.path == "/token":
                    status, answer = issuer._exchange(sent, self.headers.get("Authorization"))
                    self._say(status, json.dumps(answer).encode())
                else:
                    self._leave(sent, None if "no" in sent else sent["user"])

            def _leave(self, asked: dict[str, str], user: str | None) -> None:
                said = {"state": "another" if issuer.wrong_state else asked["state"], "iss": issuer.iss}
                if user is None:
                    said["error"] = "access_denied"
                else:
                    said["code"] = token_urlsafe(16)
                    issuer._codes[said["code"]] = asked | {"user": user}
                self.send_response(303)
                self.send_header("Location", f"{asked['redirect_uri']}?{urlencode(said)}")
                if user is not None:
                    self.send_header("Set-Cookie", f"{_SESSION}={user}; HttpOnly; SameSite=Lax")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def _say(self, status: int, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "text/html" if body.startswith(b"<") else "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        return Handler

    def _problem_of(self, asked: dict[str, str]) -> str:
        """What is wrong with how a browser was sent here; nothing where all is well."""
        wanted = {
            "tenant": "a",
            "response_type": "code",
            "client_id": CLIENT,
            "redirect_uri": self.redirect_uri,
            "code_challenge_method": "S256",
        }
        wrong = [name for name, value in wanted.items() if asked.get(name) != value]
        missing = [name for name in ("state", "nonce", "code_challenge") if len(asked.get(name, "")) < 43]
        return " ".join([*wrong, *missing, *([] if "openid" in asked.get("scope", "").split() else ["scope"])])

    def _exchange(self, form: dict[str, str], authorization: str | None) -> tuple[int, dict[str, str]]:
        self.forms.append(form)
        shown = base64.b64encode(f"{CLIENT}:s3cret%20%26%20more".encode()).decode()
        if authorization != f"Basic {shown}" or "client_secret" in form:
            return 401, {"error": "invalid_client"}
        asked = self._codes.pop(form["code"], None)  # a code is good once
        challenge = (
            base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).decode().rstrip("=")
        )
        if (
            asked is None
            or form["grant_type"] != "authorization_code"
            or form["redirect_uri"] != asked["redirect_uri"]
            or challenge != asked["code_challenge"]
        ):
            return 400, {"error": "invalid_grant"}
        claims = {"aud": CLIENT, "sub": asked["user"], "nonce": asked["nonce"]} | self.changed
        return 200, {"access_token": "opaque", "token_type": "Bearer", "id_token": self.token(**claims)}


def _hidden(field: tuple[str, str]) -> str:
    name, value = map(html.escape, field)
    return f'<input type="hidden" name="{name}" value="{value}">'


@contextmanager
def signing_issuer() -> Iterator[SigningIssuer]:
    """An issuer of its own."""
    issuer = SigningIssuer()
    issuer.start()
    try:
        yield issuer
    finally:
        issuer.stop()
