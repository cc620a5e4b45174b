"""Signing a browser in at an OpenID Connect issuer: the authorization code flow with PKCE, a state and a nonce.

RFC 6749 section 4.1, RFC 7636 and OpenID Connect Core 1.0 section 3.1. The server keeps no state between the two halves
of a sign-in. The state is in a cookie of the browser, so that any server behind a balancer can finish the sign-in, and
only the browser that began it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from secrets import token_urlsafe
from urllib.parse import quote, urlencode, urlsplit

from pydantic import BaseModel, ValidationError

from api.auth.access import Principal
from api.auth.browsers import BACK
from api.auth.oidc import Configuration, Issuer, TokenVerifier
from api.auth.rate import RateLimit
from api.errors import IssuerError, UnauthenticatedError
from api.settings import is_safe_issuer

TRIES = "60/minute"
"""How many sign-ins an address may begin, and how many it may finish: each end needs a request to the issuer."""

_START_AGAIN = "this sign-in was begun in another browser, or too long ago: start again"


class Begun(BaseModel):
    """The state of a sign-in, which the browser keeps.

    Attributes:
        state: comes back from the issuer, and proves that this browser began the sign-in.
        nonce: comes back in the token, and proves that the token was made for this sign-in.
        verifier: proves to the issuer that the sender of the code also began the sign-in.
        next: where to go afterwards.
    """

    state: str
    nonce: str
    verifier: str
    next: str

    def text(self) -> str:
        """The text of the cookie."""
        return base64.urlsafe_b64encode(self.model_dump_json().encode()).decode().rstrip("=")


class _Tokens(BaseModel):
    """An issuer's answer to a code."""

    id_token: str


class _Refusal(BaseModel):
    """An issuer's error in place of tokens; see RFC 6749, section 5.2."""

    error: str


@dataclass(frozen=True)
class Entered:
    """The result of a sign-in: the principal, its token, and the next address."""

    principal: Principal
    token: str
    next: str


class CodeFlow:
    """Both halves of a sign-in."""

    def __init__(
        self,
        issuer: Issuer,
        tokens: TokenVerifier,
        client_id: str,
        secret: str | None,
        scopes: str,
        public_url: str,
    ) -> None:
        """Prepare; no request is sent yet.

        Args:
            issuer: signs people in.
            tokens: verifies the issuer's tokens.
            client_id: our client id at the issuer.
            secret: our client secret; None for a public client.
            scopes: the requested scopes.
            public_url: where browsers find this server.
        """
        self._issuer = issuer
        self._tokens = tokens
        self._client_id = client_id
        self._secret = secret
        self._scopes = scopes
        self._back = f"{public_url}{BACK}"
        self._begun = RateLimit(TRIES)
        self._tries = RateLimit(TRIES)

    @property
    def name(self) -> str:
        """A name for the issuer: its host."""
        return urlsplit(self._issuer.address).hostname or self._issuer.address

    async def begin(self, next_: str, client: str | None) -> tuple[str, Begun]:
        """The issuer's address for a browser, and the cookie that the browser must keep.

        Args:
            next_: the path of our page after the sign-in.
            client: the browser's address; None counts no tries.

        Raises:
            RateLimitedError: the address begins too many sign-ins.
            IssuerError: the issuer can't be asked, or has no sign-in.
        """
        if client is not None:
            await self._begun.hit(client)
        there = _safe((await self._issuer.configuration()).authorization_endpoint)
        begun = Begun(state=token_urlsafe(32), nonce=token_urlsafe(32), verifier=token_urlsafe(48), next=next_)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(begun.verifier.encode()).digest()).decode().rstrip("=")
        asked = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": self._back,
            "scope": self._scopes,
            "state": begun.state,
            "nonce": begun.nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{there}{'&' if urlsplit(there).query else '?'}{urlencode(asked)}", begun

    async def finish(self, said: Mapping[str, str], kept: str | None, client: str | None) -> Entered:
        """Finish the sign-in of a browser that comes back from the issuer.

        Args:
            said: the query of the address at which the browser came back.
            kept: the text of the browser's cookie.
            client: the browser's address; None counts no tries.

        Raises:
            UnauthenticatedError: the issuer refused the sign-in, or another browser began it.
            RateLimitedError: the address tries too often.
            IssuerError: the issuer can't be asked.
        """
        begun = _begun(kept)
        if begun is None or not hmac.compare_digest(
            said.get("state", "").encode("utf-8", "replace"), begun.state.encode()
        ):
            raise UnauthenticatedError("the state is not that of this browser", _START_AGAIN)
        # RFC 9207: the check keeps a code of one issuer from being sent to another issuer.
        if said.get("iss", self._issuer.address) != self._issuer.address:
            raise UnauthenticatedError("the answer is of another issuer", "another issuer has answered: start again")
        if "error" in said or "code" not in said:
            refused = said.get("error") == "access_denied"
            told = "you have not been let in there" if refused else "the issuer did not sign you in: start again"
            raise UnauthenticatedError(f"the issuer said {said.get('error', 'nothing')[:100]!r}", told)
        if client is not None:
            await self._tries.hit(client)
        token = await self._exchange(said["code"], begun)
        return Entered(await self._tokens.verify_sign_in(token, self._client_id, begun.nonce), token, begun.next)

    async def _exchange(self, code: str, begun: Begun) -> str:
        """The ID token for a code."""
        known = await self._issuer.configuration()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._back,
            "client_id": self._client_id,
            "code_verifier": begun.verifier,
        }
        status, body = await self._issuer.post(_safe(known.token_endpoint), *self._shown(form, known))
        if status >= 500:
            raise IssuerError(f"{self._issuer.address} answered {status} to a code")
        try:
            if status == 200:
                return _Tokens.model_validate_json(body).id_token
            error = _Refusal.model_validate_json(body).error
        except ValidationError:
            raise IssuerError(f"{self._issuer.address} answered {status} with something that is no token") from None
        if error == "invalid_client":
            raise IssuerError(f"{self._issuer.address} does not take our client id and secret")
        raise UnauthenticatedError(f"the issuer refused the code: {error[:100]!r}", _START_AGAIN)

    def _shown(self, form: Mapping[str, str], known: Configuration) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """The form and the headers with our secret, in a way that the issuer supports."""
        if self._secret is None:
            return form, {}
        if "client_secret_basic" in known.token_endpoint_auth_methods_supported:
            # RFC 6749, section 2.3.1: id and secret are form-encoded first.
            shown = f"{quote(self._client_id, safe='')}:{quote(self._secret, safe='')}"
            return form, {"Authorization": f"Basic {base64.b64encode(shown.encode()).decode()}"}
        return {**form, "client_secret": self._secret}, {}


def _safe(address: str | None) -> str:
    if address is None or not is_safe_issuer(address):
        raise IssuerError("the issuer names no address with TLS at which one signs in")
    return address


def _begun(kept: str | None) -> Begun | None:
    """The sign-in in a cookie; None if the text is not such a cookie."""
    try:
        return Begun.model_validate_json(base64.urlsafe_b64decode(f"{kept or ''}==".encode()))
    except ValueError:
        return None
