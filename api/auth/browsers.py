"""Browsers send a key or token in a cookie instead of a header. The cookie counts only in requests of our own pages.

A browser adds its cookies to every request, even to a request of another site's page. Browsers name the page's site in
``Sec-Fetch-Site``, and older browsers in ``Origin``.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

COOKIE = "__Host-memtrace"
"""The prefix makes browsers send the cookie only to this host, and only over TLS unless the host is this machine."""

SIGN_IN_COOKIE = "__Host-memtrace-sign-in"
"""The cookie of a sign-in at an issuer. The browser must send it when the issuer's page sends the browser back."""

BACK = "/ui/sign-in/back"
"""The path to which an issuer sends browsers after a sign-in; the issuer must know this address."""

MOST_COOKIE = 3800
"""The most characters of a key or token in a cookie: browsers refuse cookies of more than 4,096 bytes."""


def is_same_origin(connection: HTTPConnection) -> bool:
    """Whether a request comes from a page of this server. A request without these headers does not count."""
    site = connection.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    try:
        origin = urlsplit(connection.headers.get("origin", ""))
    except ValueError:
        return False
    return bool(origin.netloc) and origin.netloc == connection.headers.get("host")


def authorization_in_cookie(connection: HTTPConnection) -> str | None:
    """The Authorization header for a browser's cookie; None without a cookie."""
    kept = connection.cookies.get(COOKIE)
    return f"Bearer {kept}" if kept else None


def authorization_of(connection: HTTPConnection) -> str | None:
    """The Authorization header, or the header for the cookie in a request of our own pages."""
    said = connection.headers.get("authorization")
    if said is not None or not is_same_origin(connection):
        return said
    return authorization_in_cookie(connection)
