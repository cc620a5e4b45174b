"""Bearer tokens of an OpenID Connect issuer: checks them against its keys, and maps its groups to roles in projects."""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import httpx
import jwt
import structlog
from pydantic import BaseModel, ConfigDict

from api.auth.access import Principal
from api.errors import IssuerError, UnauthenticatedError
from api.settings import is_safe_issuer
from schema.control import Role

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Asymmetric algorithms only: with a symmetric algorithm, everybody who can check a token can also make one."""

LEEWAY_SECONDS = 60
REFRESH_SECONDS = 60.0
"""Seconds between fetches: an unknown key causes a fetch, but not more often than this."""

AGE_SECONDS = 3600.0
"""Seconds after which keys and configuration are fetched again anyway, so that a withdrawn key is refused."""

RETRY_SECONDS = 5.0
"""Seconds after a failed fetch of the configuration in which the issuer is not asked for it again."""

_FETCH_SECONDS = 5.0
_MOST_BYTES = 1 << 20
_LONGEST_SUBJECT = 255
_KEY_TYPES = frozenset({"RSA", "EC", "OKP"})

_UNUSABLE = (httpx.HTTPError, httpx.InvalidURL, TimeoutError, ValueError)
"""Errors of a request to the issuer without a usable answer."""

_log = structlog.get_logger("memtrace.auth")


class Configuration(BaseModel):
    """The needed part of an issuer's configuration; see OpenID Connect Discovery 1.0, section 3.

    Attributes:
        authorization_endpoint, token_endpoint: where browsers sign in, and where a code is exchanged for a token.
        Issuers without sign-in have none. token_endpoint_auth_methods_supported: how a client may send its secret to
        the token endpoint.
    """

    issuer: str
    jwks_uri: str
    authorization_endpoint: str | None = None
    token_endpoint: str | None = None
    token_endpoint_auth_methods_supported: list[str] = ["client_secret_basic"]


class _Key(BaseModel):
    """A JWK; the numbers of the key are further members."""

    model_config = ConfigDict(extra="allow")

    kty: str
    kid: str | None = None
    use: str = "sig"


class _KeySet(BaseModel):
    keys: list[_Key]


class Issuer:
    """An issuer's public keys.

    Discovery finds them; they are cached, and fetched again when a token names a new key.
    """

    def __init__(self, address: str) -> None:
        """Prepare; nothing is fetched yet.

        Args:
            address: the issuer in ``iss`` of its tokens.
        """
        self.address = address
        self._http = httpx.AsyncClient(timeout=_FETCH_SECONDS, follow_redirects=False)
        self._keys: dict[str | None, jwt.PyJWK] = {}
        self._fetched = -AGE_SECONDS
        self._tried = -REFRESH_SECONDS
        self._fetching = asyncio.Lock()
        self._known: Configuration | None = None
        self._discovered = -AGE_SECONDS
        self._failed = -RETRY_SECONDS
        self._discovering = asyncio.Lock()

    async def key(self, key_id: str | None) -> jwt.PyJWK | None:
        """The key with this id, or the only key if a token names none; None if no key fits.

        Raises:
            IssuerError: the keys were never fetched successfully.
        """
        found = self._find(key_id)
        if found is None or time.monotonic() - self._fetched > AGE_SECONDS:
            await self._refresh()
            found = self._find(key_id)
        if not self._keys:
            raise IssuerError(f"the keys of {self.address} can't be had")
        return found

    async def configuration(self) -> Configuration:
        """The issuer's configuration, at most ``AGE_SECONDS`` old. If it can't be fetched, an older one stays in use.

        All who ask at the same time share one request.

        Raises:
            IssuerError: the configuration was never fetched, or belongs to another issuer.
        """
        async with self._discovering:
            now = time.monotonic()
            is_fresh = now - self._discovered < AGE_SECONDS
            if not is_fresh and now - self._failed >= RETRY_SECONDS:
                try:
                    await self._discover()
                except _UNUSABLE as error:
                    self._failed = time.monotonic()
                    _log.warning("the issuer can't be asked", issuer=self.address, problem=type(error).__name__)
            if self._known is None:
                raise IssuerError(f"{self.address} can't be asked how to sign in")
            return self._known

    async def post(self, address: str, form: Mapping[str, str], headers: Mapping[str, str]) -> tuple[int, bytes]:
        """Send a form to an address of the issuer; returns the status and the body of the answer.

        Raises:
            IssuerError: no answer came, or the answer is far too long.
        """
        sent = {"Accept": "application/json", **headers}
        try:
            async with self._http.stream("POST", address, data=dict(form), headers=sent) as answer:
                return answer.status_code, await _body(answer)
        except _UNUSABLE as error:
            _log.warning("the issuer can't be asked", issuer=self.address, problem=type(error).__name__)
            raise IssuerError(f"{self.address} can't be asked for a token") from None

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    def _find(self, key_id: str | None) -> jwt.PyJWK | None:
        if key_id is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(key_id) if key_id is not None else None

    async def _refresh(self) -> None:
        async with self._fetching:
            if time.monotonic() - self._tried < REFRESH_SECONDS:
                return
            self._tried = time.monotonic()
            try:
                keys = await self._fetch()
            except _UNUSABLE as error:
                # The old keys stay valid: an issuer that is away for an hour must not lock everybody out.
                _log.warning("the issuer's keys can't be fetched", issuer=self.address, problem=type(error).__name__)
                return
            self._keys = keys
            self._fetched = time.monotonic()

    async def _discover(self) -> Configuration:
        address = f"{self.address.rstrip('/')}/.well-known/openid-configuration"
        found = Configuration.model_validate_json(await self._get(address))
        if found.issuer != self.address:
            raise ValueError("the issuer calls itself something else")
        self._known, self._discovered = found, time.monotonic()
        return found

    async def _fetch(self) -> dict[str | None, jwt.PyJWK]:
        found = await self._discover()
        if not is_safe_issuer(found.jwks_uri):
            raise ValueError("the keys lie at an address without TLS")
        listed = _KeySet.model_validate_json(await self._get(found.jwks_uri)).keys
        return {entry.kid: key for entry in listed if (key := _jwk(entry)) is not None}

    async def _get(self, address: str) -> bytes:
        async with (
            asyncio.timeout(_FETCH_SECONDS),
            self._http.stream("GET", address, headers={"Accept": "application/json"}) as answer,
        ):
            answer.raise_for_status()
            return await _body(answer)


class TokenVerifier:
    """Turns bearer tokens into principals."""

    def __init__(
        self,
        issuer: Issuer,
        audience: str,
        groups_claim: str,
        grants: Mapping[str, Mapping[str, Role]],
        person_claim: str = "sub",
        client_id: str | None = None,
    ) -> None:
        """Prepare; nothing is fetched yet.

        Args:
            issuer: the issuer of the accepted tokens.
            audience: the audience that a token must have.
            groups_claim: the claim with a token's groups.
            grants: for each group, the role in each project.
            person_claim: the claim with the author of verdicts.
            client_id: our client id at the issuer. ID tokens for this client, which browsers send, are accepted too.
        """
        self._issuer = issuer
        self._audience = audience
        self._client_id = client_id
        self._audiences = [audience] if client_id is None else [audience, client_id]
        self._groups_claim = groups_claim
        self._grants = grants
        self._person_claim = person_claim

    async def verify(self, token: str) -> Principal:
        """The principal of a token. A token whose groups have no grants has no projects.

        Raises:
            UnauthenticatedError: the token is not valid. The error never quotes the token.
            IssuerError: the issuer can't be asked.
        """
        claims = await self._claims(token, self._audiences)
        if self._client_id is not None and self._audience not in _audiences_of(claims):
            _check_party(claims, self._client_id)
        return self._principal(claims)

    async def verify_sign_in(self, token: str, client_id: str, nonce: str) -> Principal:
        """The principal of an ID token that was made for one sign-in; see OpenID Connect Core 1.0, section 3.1.3.7.

        Args:
            token: the ID token that the issuer gave for a code.
            client_id: the audience that the token must have.
            nonce: the nonce of this sign-in.

        Raises:
            UnauthenticatedError: the token is not valid, for another client or of another sign-in.
            IssuerError: the issuer can't be asked.
        """
        claims = await self._claims(token, [client_id])
        _check_party(claims, client_id)
        if not hmac.compare_digest(str(claims.get("nonce", "")).encode("utf-8", "replace"), nonce.encode()):
            raise UnauthenticatedError("the token is of another sign-in: its nonce is not ours")
        return self._principal(claims)

    async def _claims(self, token: str, audiences: list[str]) -> dict[str, Any]:
        """The claims of a token, after checking its signature, issuer, times and audience."""
        try:
            header = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, RecursionError):
            raise UnauthenticatedError("this is neither a key nor a token") from None
        # Checked before the issuer is asked, so that a token that can't be valid costs nothing.
        if header.get("alg") not in ALGORITHMS:
            raise UnauthenticatedError("the token's algorithm is not one that is taken")
        key = await self._issuer.key(header.get("kid"))
        if key is None:
            raise UnauthenticatedError("the token is signed with a key that the issuer does not have")
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                key.key,
                algorithms=list(ALGORITHMS),
                audience=audiences,
                issuer=self._issuer.address,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except jwt.ExpiredSignatureError:  # its signature is good
            raise UnauthenticatedError("the token has expired", "this token has expired") from None
        except (jwt.PyJWTError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise UnauthenticatedError(f"the token is not good: {type(error).__name__}") from None
        return claims

    def _principal(self, claims: Mapping[str, Any]) -> Principal:
        subject = str(claims["sub"])
        if not subject or len(subject) > _LONGEST_SUBJECT:
            raise UnauthenticatedError("the token's subject is empty or too long")
        try:
            expires_at = datetime.fromtimestamp(int(claims["exp"]) + LEEWAY_SECONDS, UTC)
        except (ValueError, OverflowError, OSError):
            raise UnauthenticatedError("the token expires beyond the year 9999") from None
        person = claims.get(self._person_claim)
        if not isinstance(person, str) or not person or len(person) > _LONGEST_SUBJECT:
            # Without its own name a token must not count as somebody else.
            raise UnauthenticatedError(f"the token's {self._person_claim} is empty, too long or no text")
        roles = self._roles(claims.get(self._groups_claim))
        return Principal(f"oidc:{subject}", roles, expires_at, person)

    async def close(self) -> None:
        """Close the connections to the issuer."""
        await self._issuer.close()

    def _roles(self, groups: Any) -> dict[str, Role]:
        """The highest role that the groups have in each project."""
        named = [groups] if isinstance(groups, str) else groups if isinstance(groups, list) else []
        roles: dict[str, Role] = {}
        for group in named:
            for project, role in self._grants.get(str(group), {}).items():
                if project not in roles or role.allows(roles[project]):
                    roles[project] = role
        return roles


def _audiences_of(claims: Mapping[str, Any]) -> list[str]:
    """The audiences of a checked token, which names one or several."""
    named = claims["aud"]
    return [named] if isinstance(named, str) else named


def _check_party(claims: Mapping[str, Any], client_id: str) -> None:
    """Refuse an ID token of another client; see OpenID Connect Core 1.0, section 3.1.3.7, points 4 and 5.

    Raises:
        UnauthenticatedError: the authorized party is another client, or several audiences come without a party.
    """
    if "azp" not in claims and len(_audiences_of(claims)) > 1:
        raise UnauthenticatedError("the token has several audiences, and names no authorized party")
    if claims.get("azp", client_id) != client_id:
        raise UnauthenticatedError("the token was made for another client")


async def _body(answer: httpx.Response) -> bytes:
    body = bytearray()
    async for block in answer.aiter_bytes():
        body += block
        if len(body) > _MOST_BYTES:
            raise ValueError("the answer is too large")
    return bytes(body)


def _jwk(entry: _Key) -> jwt.PyJWK | None:
    """A key for signatures; None for a key of another use or kind. The issuer's other keys stay usable."""
    if entry.kty not in _KEY_TYPES or entry.use != "sig":
        return None
    try:
        return jwt.PyJWK(entry.model_dump(exclude_none=True))
    except (jwt.PyJWTError, ValueError, TypeError):
        return None
