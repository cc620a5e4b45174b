"""Sends one request to the platform, and interprets the response."""

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
"""Statuses of a bad request, which will be refused again. Other statuses, such as for a wrong key or address, may
disappear without a change of the events, so the events are kept."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of sending a batch.

    Attributes:
        is_retryable: whether the events after the first ``taken`` may be sent again later.
        taken: number of finished lines at the beginning of a retryable batch.
        retry_after: seconds, if the platform gave a time.
        reason: why the batch is retryable.
        is_ours: whether the key or the project has to be corrected here before the next try.
        rejected: reasons for events that the platform will never accept, by place in the batch.
    """

    is_retryable: bool = False
    retry_after: float | None = None
    reason: str = ""
    is_ours: bool = False
    taken: int = 0
    rejected: dict[int, str] = field(default_factory=dict)


class Platform:
    """The platform at an address, for one project: the named project, otherwise the key's project."""

    def __init__(self, endpoint: str, key: str | None, project: str | None) -> None:
        self._url = endpoint.rstrip("/") + "/v1/events"
        self._parameters = {"project": project} if project else {}
        self._key = key
        self._client: httpx.Client | None = None
        self._encoding, self._compress = _compression()

    def forked(self) -> None:
        """Forget connections, which belong to the parent process."""
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
        # The first half counts as taken: a platform that limits the rate would never accept both halves together.
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
    """Seconds to wait by the header ``Retry-After``, a number or a date; None without a usable header."""
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
