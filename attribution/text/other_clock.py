"""Times of day in Chinese, Japanese and Korean: ``18時30分``, ``午後六時半``, ``下午三点一刻``, ``오후 여섯 시 반``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from attribution.text.scripts import numeral

_HALF_DAY, _DAY = 720, 1440
_KOREAN = {
    name: hour
    for hour, name in enumerate(
        ["한", "두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉", "열", "열한", "열두"], 1
    )
}
_CHINESE = "〇零一二两兩三四五六七八九十"
_HOUR = rf"\d{{1,2}}|[{_CHINESE}]{{1,3}}|{'|'.join(sorted(_KOREAN, key=len, reverse=True))}"
_READ = re.compile(
    rf"""
      (?:(?P<am>午前|早朝|朝|上午|早上|凌晨|清晨|오전|아침|새벽)|(?P<pm>午後|夕方|夜|晩|下午|晚上|傍晚|오후|저녁|밤))?[のに]?\s*
      (?<![\d{_CHINESE}])(?P<hour>{_HOUR})\s*(?P<sign>[時时시](?![間间간])|(?P<point>[點点](?:[鐘钟])?))\s*
      (?:(?P<half>半|반)|(?P<quarter>[一三])刻|(?P<minutes>\d{{1,2}}|[{_CHINESE}]{{1,3}})\s*(?P<unit>[分분])?)?
    """,
    re.VERBOSE,
)


def other_times(text: str) -> Iterator[tuple[int, int, int, bool]]:
    """The times of day of a text: first and last place, minutes after midnight, whether morning and evening differ.

    ``Two points`` is written as ``two o'clock`` in Chinese, so that 点 counts only beside another sign of a time.
    """
    for match in _READ.finditer(text):
        hour = _value(match["hour"])
        is_told = bool(match["am"] or match["pm"] or match["half"] or match["quarter"] or match["unit"])
        if hour is None or hour > 24 or (match["point"] and not is_told and len(match["point"]) == 1):
            continue
        has_minutes = bool(match["minutes"] and (match["unit"] or match["point"]))
        past = 30 if match["half"] else 15 * (_value(match["quarter"]) or 0) if match["quarter"] else 0
        past = (_value(match["minutes"]) or 0) if has_minutes else past
        is_whole = has_minutes or match["half"] or match["quarter"]
        end = match.end() if is_whole else match.end("sign")
        minutes = 60 * hour + past
        if match["am"] or match["pm"]:
            minutes = minutes % _HALF_DAY + _HALF_DAY * bool(match["pm"])
        yield match.start(), end, minutes % _DAY, bool(match["am"] or match["pm"]) or hour > 12


def _value(said: str) -> int | None:
    return int(said) if said.isdigit() else _KOREAN[said] if said in _KOREAN else numeral(said)
