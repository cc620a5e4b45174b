"""An OpenID Connect issuer over real HTTP, with real keys."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

AUDIENCE = "memtrace"


class Issuer:
    """Signs tokens, and publishes its keys.

    Attributes:
        asked: requested paths.
        up: whether it answers with anything but 503.
        answers: answers by path that replace the issuer's own.
        tokens: status and body of the answer to a code.
        posted: the forms that came with codes, each with the Authorization header.
    """

    def __init__(self, host: str = "127.0.0.1") -> None:
        """Answer nobody yet.

        Args:
            host: this machine's name in the issuer's address.
        """
        self.asked: list[str] = []
        self.up = True
        self.answers: dict[str, Any] = {}
        self.tokens: tuple[int, Any] = (404, {})
        self.posted: list[tuple[dict[str, str], str | None]] = []
        self._keys: dict[str, rsa.RSAPrivateKey] = {}
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://{host}:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self.rotate("first")

    def rotate(self, key_id: str) -> None:
        """Replace the key."""
        self._keys = {key_id: rsa.generate_private_key(public_exponent=65537, key_size=2048)}

    @property
    def key(self) -> rsa.RSAPrivateKey:
        """The key that signs."""
        return next(iter(self._keys.values()))

    def claims(self, **changed: Any) -> dict[str, Any]:
        """The claims of a valid token; None leaves a claim out."""
        now = datetime.now(UTC)
        claims = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "alice",
            "exp": now + timedelta(minutes=5),
            "iat": now,
            "groups": ["analysts"],
        }
        return {name: value for name, value in (claims | changed).items() if value is not None}

    def token(self, key_id: str | None = None, algorithm: str = "RS256", key: Any = None, **changed: Any) -> str:
        """A token, which is valid except for what is changed."""
        known = next(iter(self._keys))
        return jwt.encode(
            self.claims(**changed), self.key if key is None else key, algorithm, headers={"kid": key_id or known}
        )

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """Close the door."""
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def _answer(self, path: str) -> Any:
        if path in self.answers:
            return self.answers[path]
        if path == "/.well-known/openid-configuration":
            return {"issuer": self.url, "jwks_uri": f"{self.url}/keys"}
        algorithm = jwt.algorithms.RSAAlgorithm
        listed = [
            {**algorithm.to_jwk(key.public_key(), as_dict=True), "kid": key_id, "use": "sig"}
            for key_id, key in self._keys.items()
        ]
        # Issuers list what we can't use, too.
        return {"keys": [{"kty": "oct", "k": "c2VjcmV0", "kid": "shared"}, {"kty": "new", "kid": "new"}, *listed]}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                """Say nothing."""

            def do_GET(self) -> None:
                issuer.asked.append(self.path)
                body = json.dumps(issuer._answer(self.path)).encode()
                self.send_response(200 if issuer.up else 503)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                issuer.asked.append(self.path)
                form = self.rfile.read(int(self.headers["Content-Length"])).decode()
                issuer.posted.append((dict(parse_qsl(form)), self.headers.get("Authorization")))
                status, answer = issuer.tokens
                body = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        return Handler


@contextmanager
def oidc_issuer() -> Iterator[Issuer]:
    """An issuer of its own."""
    issuer = Issuer()
    issuer.start()
    try:
        yield issuer
    finally:
        issuer.stop()
