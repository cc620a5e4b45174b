"""Sends one request to the platform, and says what the response means."""

from __future__ import annotations

import gzip
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

CONTENT_TYPE = "application/x-ndjson"
CONNECT_SECONDS = 3.0
REQUEST_SECONDS = 15.0
LONGEST_RETRY_AFTER = 3600.0
_SMALLEST_COMPRESSED = 1_000
_OK = range(200, 300)
_REFUSED = {400, 413, 415, 422}
"""The request itself is bad, and would be the next time. What else a server or proxy may answer, such as that the key
or the address is wrong, is mended without changing the events: they are not lost for it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a batch.

    Attributes:
        is_retryable: whether the events that were not ``taken`` may be sent again later.
        taken: if it is retryable, the number of lines from the first on that are finished.
        retry_after: seconds, if the platform gave a time.
        reason: why it is retryable.
        is_ours: whether the key or the project has to be corrected here before it is sent again.
        rejected: the reasons for events that will never be accepted, by their place in the batch.
    """

    is_retryable: bool = False
    retry_after: float | None = None
    reason: str = ""
    is_ours: bool = False
    taken: int = 0
    rejected: dict[int, str] = field(default_factory=dict)


class Platform:
    """The platform at an address, for one project: the named one, otherwise that of the key."""

    def __init__(self, endpoint: str, key: str | None, project: str | None) -> None:
        self._url = endpoint.rstrip("/") + "/v1/events"
        self._parameters = {"project": project} if project else {}
        self._key = key
        self._client: httpx.Client | None = None
        self._encoding, self._compress = _compression()

    def forked(self) -> None:
        """Connections belong to the process that opened them: forget them."""
        self._client = None

    def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def post(self, lines: list[bytes]) -> Answer:
        """Send a batch. A batch that is too large for one request is sent in halves."""
        import httpx

        body = b"".join(lines)
        headers = {"Content-Type": CONTENT_TYPE}
        if len(body) >= _SMALLEST_COMPRESSED:
            body = self._compress(body)
            headers["Content-Encoding"] = self._encoding
        try:
            response = self._open().post(self._url, params=self._parameters, content=body, headers=headers)
        except (httpx.HTTPError, OSError) as error:
            return Answer(is_retryable=True, reason=type(error).__name__)
        return self._read(response, lines)

    def _open(self) -> httpx.Client:
        import httpx

        if self._client is None:
            headers = {"User-Agent": "memtrace-sdk"}
            if self._key:
                headers["Authorization"] = f"Bearer {self._key}"
            self._client = httpx.Client(
                headers=headers, timeout=httpx.Timeout(REQUEST_SECONDS, connect=CONNECT_SECONDS)
            )
        return self._client

    def _read(self, response: httpx.Response, lines: list[bytes]) -> Answer:
        status = response.status_code
        if status in _OK:
            return Answer(rejected=_rejected(response, len(lines)))
        if status in {408, 429} or status >= 500:
            return Answer(is_retryable=True, retry_after=_retry_after(response), reason=f"status {status}")
        if status not in _REFUSED:
            return Answer(is_retryable=True, reason=f"status {status}: {_problem(response)}", is_ours=True)
        if status == 415 and self._encoding != "gzip" and "Content-Encoding" in response.request.headers:
            self._encoding, self._compress = "gzip", _gzip
            return self.post(lines)
        if status == 413 and len(lines) > 1:
            return self._halves(lines)
        return Answer(rejected=dict.fromkeys(range(len(lines)), f"status {status}: {_problem(response)}"))

    def _halves(self, lines: list[bytes]) -> Answer:
        middle = len(lines) // 2
        first = self.post(lines[:middle])
        if first.is_retryable:
            return first
        # The result of the first half is kept: a platform that accepts only so much would never accept all at once.
        second = self.post(lines[middle:])
        rejected = first.rejected | {index + middle: why for index, why in second.rejected.items()}
        return replace(second, taken=middle + second.taken, rejected=rejected)


def _rejected(response: httpx.Response, count: int) -> dict[int, str]:
    found: dict[int, str] = {}
    body = _json(response)
    items = body.get("rejected") if isinstance(body, dict) else None
    for item in items if isinstance(items, list) else []:
        if isinstance(item, dict) and isinstance(item.get("index"), int) and 0 <= item["index"] < count:
            found[item["index"]] = str(item.get("reason", "no reason given"))
    return found


def _problem(response: httpx.Response) -> str:
    body = _json(response)
    if isinstance(body, dict):
        return str(body.get("detail") or body.get("title") or "")[:500]
    return response.reason_phrase


def _json(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        return None


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds that the platform asks to wait; the header is a number or a date."""
    text = response.headers.get("Retry-After", "").strip()
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):
            return None
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER) if seconds == seconds else None  # noqa: PLR0124 (not a number)


def _compression() -> tuple[str, Callable[[bytes], bytes]]:
    if importlib.util.find_spec("zstandard") is None:
        return "gzip", _gzip
    import zstandard

    return "zstd", lambda body: zstandard.ZstdCompressor(level=3).compress(body)


def _gzip(body: bytes) -> bytes:
    return gzip.compress(body, compresslevel=4, mtime=0)
