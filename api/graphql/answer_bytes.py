"""Counts the bytes of an answer while it is built, so that a small document can't make an answer of gigabytes.

A value counts each time that the answer has it: aliases repeat a value, and JSON writes each repetition.
"""

from __future__ import annotations

from typing import Any

import msgspec
from graphql import GraphQLError

MOST_ERRORS = 1000
"""The most errors of fields in one answer; each error names its place in the document and in the answer."""

NAME = 4
"""Bytes around a name: two quotation marks, a colon, and a comma."""

SHORT = 64
"""Characters of a text that is counted as it is; in JSON each may take six bytes, which the end of its list counts."""

_VALUE = 5
"""Bytes that a value other than a text counts for."""

_OF_ANY_LENGTH = (str, list, dict, msgspec.Raw)

_encode = msgspec.json.Encoder().encode


class AnswerTooLargeError(GraphQLError):
    """The answer is beyond a bound. It ends the whole operation: no further field is completed."""

    def __init__(self, reason: str, limit: int) -> None:
        super().__init__(f"{reason}: ask for less, or smaller pages", extensions={"code": "TOO_LARGE", "limit": limit})


class AnswerBytes:
    """The bytes of one answer in JSON.

    Attributes:
        count: bytes so far. The executor adds those of names and short texts itself: a call for each takes too long.
        most: the largest number of bytes.
    """

    def __init__(self, most: int) -> None:
        """Begin an answer.

        Args:
            most: the largest number of bytes.
        """
        self.count = 0
        self.most = most
        self._errors = 0

    def add(self, value: Any) -> None:
        """Count a leaf.

        Raises:
            AnswerTooLargeError: the answer is too large.
        """
        self._add(len(_encode(value)) if isinstance(value, _OF_ANY_LENGTH) else _VALUE)

    def add_error(self) -> None:
        """Count an error of a field.

        Raises:
            AnswerTooLargeError: the answer has too many errors.
        """
        self._errors += 1
        if self._errors > MOST_ERRORS:
            raise AnswerTooLargeError(f"the answer has more than {MOST_ERRORS:,} errors", MOST_ERRORS)

    def add_rows(self, rows: list[dict[str, Any]]) -> msgspec.Raw:
        """Count the rows of a list, and return the list as JSON.

        Raises:
            AnswerTooLargeError: the answer is too large.
        """
        parts = []
        for row in rows:  # one by one: a few rows may be longer than a whole answer may be
            part = _encode(row)
            self._add(len(part) + 1)
            parts.append(part)
        return msgspec.Raw(b"[" + b",".join(parts) + b"]")

    def as_json(self, value: Any) -> msgspec.Raw:
        """A completed part of the answer, whose leaves were counted, as JSON.

        Raises:
            AnswerTooLargeError: the part is too large.
        """
        encoded = _encode(value)
        self._add(len(encoded) if len(encoded) > self.most else 0)
        return msgspec.Raw(encoded)

    def check(self) -> None:
        """Refuse an answer that is too large.

        Raises:
            AnswerTooLargeError: it is.
        """
        if self.count > self.most:
            raise AnswerTooLargeError(f"the answer has more than {self.most:,} bytes", self.most)

    def _add(self, size: int) -> None:
        self.count += size
        self.check()


def stored_json(text: str) -> msgspec.Raw:
    """A stored text of JSON, checked but not decoded: decoded lists take twenty times the memory.

    Raises:
        msgspec.DecodeError: the text is not JSON.
    """
    return msgspec.json.decode(text, type=msgspec.Raw)
