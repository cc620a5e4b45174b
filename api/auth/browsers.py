"""Browsers: a key or token in a cookie in the place of a header, believed only where the page is our own.

A browser adds its cookies to whatever request a page makes. So a cookie counts only for what the server's own pages
ask: browsers say where a request comes from in ``Sec-Fetch-Site``, and older ones in ``Origin``.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

COOKIE = "__Host-memtrace"
"""The prefix makes browsers keep it from other hosts and from plain HTTP, unless the host is this machine."""

SIGN_IN_COOKIE = "__Host-memtrace-sign-in"
"""What a browser keeps while it signs in at an issuer; it must come along when another site sends it back."""

BACK = "/ui/sign-in/back"
"""Where an issuer sends browsers to when they have signed in there; it must know of this address."""

MOST_COOKIE = 3800
"""Characters of a key or token that a cookie has room for; browsers refuse cookies of more than 4,096 bytes."""


def is_same_origin(connection: HTTPConnection) -> bool:
    """Whether a request comes from a page of this server. One that says nothing of that does not."""
    site = connection.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    try:
        origin = urlsplit(connection.headers.get("origin", ""))
    except ValueError:
        return False
    return bool(origin.netloc) and origin.netloc == connection.headers.get("host")


def authorization_in_cookie(connection: HTTPConnection) -> str | None:
    """The Authorization header that a browser's cookie stands for; None where there is none."""
    kept = connection.cookies.get(COOKIE)
    return f"Bearer {kept}" if kept else None


def authorization_of(connection: HTTPConnection) -> str | None:
    """The Authorization header, or what a cookie stands for that one of our own pages has sent."""
    said = connection.headers.get("authorization")
    if said is not None or not is_same_origin(connection):
        return said
    return authorization_in_cookie(connection)
