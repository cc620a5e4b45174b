"""The overview of a project: traces, failures over time, what to change, and which operations make which errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from api.web.pages.levers import levers_of
from api.web.pages.shown import PageRequest, Shown
from attribution.report.model import OperationErrors, OverTime, Stretch
from attribution.report.over_time import MOST_STRETCHES
from schema.kinds import HUMAN_METHOD

_LENGTHS = {"days": 86_400, "weeks": 604_800, "years": 26 * 604_800}
"""Lengths of periods. The chart has at most ``MOST_STRETCHES`` of one length; the longest reach back twenty years."""


async def overview(asked: PageRequest) -> Shown:
    """The overview of a project."""
    tomorrow = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    since = {
        name: (tomorrow - timedelta(seconds=length * MOST_STRETCHES)).isoformat() for name, length in _LENGTHS.items()
    }
    found = await asked.viewer.ask_project(
        "overview", asked.project, after=asked.said("after"), until=tomorrow.isoformat(), **since
    )
    one = found["project"]
    groups = one["verdictGroups"]
    methods = methods_of(groups)
    method = asked.said("method")
    if method not in methods:
        method = methods[0] if methods else None
    labels = {count["label"]: count["count"] for count in one["statistics"]["labels"]}
    kinds = {(count["label"], count["kind"]): count["count"] for count in one["statistics"]["kinds"]}
    failures = labels.get("Failure", 0)
    live = sum(trace["isLive"] for trace in one["traces"]["nodes"])
    values = {
        "it": one,
        "live": live,
        "follows": live > 0 and asked.said("live") != "0",
        "shown": {name: asked.said(name) for name in ("method", "after")},
        "labels": labels,
        "answers": kinds.get(("Variable", "Answer"), 0),
        "right": one["statistics"]["rightAnswers"],
        "failures": failures,
        "by_type": by_type(groups, method),
        "by_operation": by_operation(groups, method),
        "methods": methods,
        "method": method,
        "judged": await _judged(asked) if HUMAN_METHOD in methods else 0,
        "over_time": _over_time(one, failures),
        "levers": await levers_of(asked, method, (failures, labels.get("Attribution", 0))),
        "is_first": asked.said("after") is None,
        "address": str(asked.request.base_url).rstrip("/"),
    }
    return Shown("overview", values)


async def _judged(asked: PageRequest) -> int:
    """The number of failures that people have judged."""
    found = await asked.viewer.ask_project("judged", asked.project)
    count: int = found["project"]["failureCount"]
    return count


def methods_of(groups: Sequence[dict[str, Any]]) -> list[str]:
    """The methods of the verdicts, the most frequent first."""
    counted: Counter[str] = Counter()
    for group in groups:
        counted[group["method"]] += group["failures"]
    return [method for method, _ in counted.most_common()]


def by_type(groups: Iterable[dict[str, Any]], method: str | None) -> list[tuple[str | None, int]]:
    """The number of failures of each error type by one method, the largest first."""
    counted: Counter[str | None] = Counter()
    for group in groups:
        if group["method"] == method:
            counted[group["errorType"]] += group["failures"]
    return counted.most_common()


def by_operation(groups: Iterable[dict[str, Any]], method: str | None) -> list[OperationErrors]:
    """The number of failures of each error type for each blamed operation."""
    counted: dict[str, Counter[str]] = {}
    for group in groups:
        if group["method"] == method and group["operation"] and group["errorType"]:
            counted.setdefault(group["operation"], Counter())[group["errorType"]] += group["failures"]
    found = [
        OperationErrors(key=name, label=name, count=kinds.total(), error_types=kinds) for name, kinds in counted.items()
    ]
    return sorted(found, key=lambda one: (-one.count, one.label))


def _over_time(found: dict[str, Any], failures: int) -> OverTime | None:
    """Failures over time in the shortest periods that cover all of them; None if no failure has a time."""
    most = sum(period["failures"] for period in found["years"])
    if not most:
        return None
    name = next(name for name in _LENGTHS if sum(period["failures"] for period in found[name]) >= most)
    periods = found[name]
    first = next(place for place, period in enumerate(periods) if period["failures"])
    last = max(place for place, period in enumerate(periods) if period["failures"])
    stretches = [
        Stretch(start=datetime.fromisoformat(period["start"]), failures=period["failures"])
        for period in periods[first : last + 1]
    ]
    return OverTime(seconds=_LENGTHS[name], stretches=stretches, undated=max(0, failures - most))
