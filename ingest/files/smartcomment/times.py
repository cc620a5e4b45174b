"""Converts between smartcomment's local times without a zone and UTC."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from schema.errors import InputError


class Clock:
    """Reads and writes the times of one file; neighbouring records often repeat a time, so the last one is cached."""

    def __init__(self, timezone: str) -> None:
        """``timezone``: an IANA name, such as ``Europe/Berlin``.

        Raises:
            InputError: no such zone is known.
        """
        try:
            self._zone = UTC if timezone == "UTC" else ZoneInfo(timezone)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise InputError("timezone", "", f"{timezone!r} is no time zone of the IANA database") from error
        self._last: tuple[str, datetime] = ("", datetime.min.replace(tzinfo=UTC))

    def read(self, text: str) -> datetime:
        """Parse a local time such as ``2026-11-21 20:28:59.390``; returns UTC.

        Raises:
            ValueError: ``text`` is no time.
        """
        last_text, last = self._last
        if text == last_text:
            return last
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=self._zone)
        if self._zone is not UTC or moment.tzinfo is not UTC:
            try:
                moment = moment.astimezone(UTC)
            except OverflowError:
                raise ValueError("it is not within the years 1 to 9999 of UTC") from None
        self._last = (text, moment)
        return moment

    def write(self, moment: datetime) -> str:
        """The inverse of ``read``, with milliseconds, as smartcomment writes it."""
        try:
            local = moment if self._zone is UTC else moment.astimezone(self._zone)
        except OverflowError:  # within hours of year 1 or 9999; the original text is kept as leftover
            local = moment
        return local.replace(tzinfo=None).isoformat(sep=" ", timespec="milliseconds")

    def is_usual(self, text: str) -> bool:
        """Whether reading and writing gives the same text again."""
        if self._zone is UTC:
            return len(text) == 23 and text[10] == " " and text[19] == "."
        return self.write(self.read(text)) == text
