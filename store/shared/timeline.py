"""Divides a period into stretches of time, for counts of new elements."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self

from schema.errors import InputError
from schema.times import EPOCH, in_utc, to_microseconds
from store.contract.answers import Label, Period

MOST_STRETCHES = 10_000


@dataclass(frozen=True, slots=True)
class Stretches:
    """A period of time, divided into stretches, in microseconds since 1970.

    Attributes:
        start: the first moment.
        end: the first moment after the period; the last stretch may be shorter than ``width``.
        width: the length of a stretch.
        count: the number of stretches.
    """

    start: int
    end: int
    width: int
    count: int

    @classmethod
    def between(cls, since: datetime, until: datetime, seconds: int) -> Self:
        """The stretches of ``seconds`` seconds from ``since`` to ``until``.

        Raises:
            InputError: more than ``MOST_STRETCHES`` stretches, less than one second, or a moment out of range.
        """
        if seconds < 1:
            raise InputError("timeline", "seconds", f"a stretch takes at least one second, not {seconds}")
        start = to_microseconds(in_utc(since, "timeline", "since"))
        end = to_microseconds(in_utc(until, "timeline", "until"))
        assert start is not None
        assert end is not None
        width = seconds * 1_000_000
        count = max(0, -(-(end - start) // width))
        if count > MOST_STRETCHES:
            problem = f"{count:,} stretches of {seconds} s are more than {MOST_STRETCHES:,}: make them longer"
            raise InputError("timeline", "seconds", problem)
        return cls(start, end, width, count)

    def periods(self, rows: Iterable[tuple[str, str, int, int]]) -> list[Period]:
        """All stretches with their counts, also the empty stretches.

        Args:
            rows: (label, error type, number of the stretch, count), for stretches that are not empty.
        """
        traces, failures = [0] * self.count, [0] * self.count
        verdicts: list[dict[str, int]] = [{} for _ in range(self.count)]
        for label, error_type, number, count in sorted(rows):
            if label == Label.TRACE:
                traces[number] = count
            elif label == Label.FAILURE:
                failures[number] = count
            else:
                verdicts[number][error_type] = count
        return [
            Period(EPOCH + timedelta(0, 0, self.start + number * self.width), *counted)
            for number, counted in enumerate(zip(traces, failures, verdicts, strict=True))
        ]
