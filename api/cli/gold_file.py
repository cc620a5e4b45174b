"""Reads a file of right answers: a line names an answer, or its question, and says what would have been right.

The file is CSV with a header, one JSON object a line, or a JSON list of objects.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from schema.errors import InputError
from schema.outside_json import JsonError, read_json

_ANSWER = ("id", "answerid")
_QUESTION = ("question", "query", "questiontext")
_GOLD = ("gold", "goldanswer", "goldanswers", "rightanswer", "correctanswer", "expectedanswer", "expected", "truth")
_EITHER = "answer"
"""The right answer in a file without another column for it; else the id of the answer that was given."""
_NEEDED = "it needs `id` (of the answer) or `question`, and `gold` (the right answer)"
_DELIMITERS = ",;\t"
_MOST_LINES = 100_000


@dataclass(frozen=True, slots=True)
class GoldLine:
    """A line of the file.

    Attributes:
        number: of the line in the file, from 1; of a JSON list, the number of the object.
        named: the answer's id, or the question's text.
        gold: the right answers; empty if the line says none.
        problem: what is wrong with the line; empty if nothing is.
        question: the question's text, if the line names the answer, too.
    """

    number: int
    named: str
    gold: tuple[str, ...]
    problem: str = ""
    question: str = ""


def read_gold(data: bytes, source: str) -> list[GoldLine]:
    """The lines of a file of right answers.

    Args:
        data: the file.
        source: the name of the file, for errors.

    Raises:
        InputError: the file is neither CSV nor JSON in UTF-8, lacks a column, or has too many lines.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(source, f"byte {error.start}", "is not UTF-8") from None
    read = _json_list if text.lstrip().startswith("[") else _json_lines if text.lstrip().startswith("{") else _csv
    found = []
    for line in read(text, source):
        found.append(line)
        if len(found) > _MOST_LINES:
            raise InputError(source, "", f"has more than {_MOST_LINES:,} lines")
    if not found:
        raise InputError(source, "", "has no lines with right answers")
    return found


def _csv(text: str, source: str) -> Iterator[GoldLine]:
    header = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=header.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    before = 0
    try:
        names = list(reader.fieldnames or ())
        if not _columns(names)[1] or not any(_columns(names)[0]):
            raise InputError(source, "line 1", f"the columns are {', '.join(names) or 'missing'}; {_NEEDED}")
        before = reader.line_num
        for row in reader:
            number, before = before + 1, reader.line_num
            if None in row:
                yield GoldLine(number, "", (), f"has more than {len(names)} columns")
                continue
            yield _line(number, row)
    except csv.Error as error:
        raise InputError(source, f"line {before + 1}", str(error)) from None


def _json_lines(text: str, source: str) -> Iterator[GoldLine]:
    del source
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield _object(number, read_json(line))
            except JsonError as error:
                yield GoldLine(number, "", (), f"is no JSON: {error}")


def _json_list(text: str, source: str) -> Iterator[GoldLine]:
    try:
        found = read_json(text, list[Any])
    except JsonError as error:
        raise InputError(source, "", f"is no JSON: {error}") from None
    for number, one in enumerate(found, 1):
        yield _object(number, one)


def _object(number: int, found: Any) -> GoldLine:
    if not isinstance(found, dict):
        return GoldLine(number, "", (), "is no JSON object")
    named, gold = _columns(list(found))
    if not gold or not any(named):
        return GoldLine(number, "", (), f"has {', '.join(found) or 'nothing'}; {_NEEDED}")
    return _line(number, found)


def _columns(names: list[str]) -> tuple[tuple[str, str], str]:
    """The columns of the answer's id, of the question, and of the right answer; empty for what is missing."""
    plain = {re.sub(r"[\W_]", "", name).casefold(): name for name in reversed(names)}

    def first(known: tuple[str, ...]) -> str:
        return next((plain[one] for one in known if one in plain), "")

    answer, question, gold = first(_ANSWER), first(_QUESTION), first(_GOLD)
    if _EITHER in plain:
        answer, gold = (answer, plain[_EITHER]) if not gold else (answer or plain[_EITHER], gold)
    return (answer, question), gold


def _line(number: int, row: Mapping[str, Any]) -> GoldLine:
    columns, gold = _columns(list(row))
    named = next((str(row[one]).strip() for one in columns if one and row[one] not in (None, "")), "")
    told = row[gold]
    if isinstance(told, str) and told.startswith("["):
        with suppress(JsonError):  # a text may begin with a bracket
            told = read_json(told, list[str])
    several = told if isinstance(told, list) else [] if told is None else [told]
    if not all(isinstance(one, str | int | float) for one in several):
        return GoldLine(number, named, (), f"{gold} is neither a text nor a list of texts")
    right = tuple(dict.fromkeys(str(one).strip() for one in several if str(one).strip()))
    if right and not named:
        return GoldLine(number, "", right, "names neither an answer nor a question")
    asked = str(row[columns[1]] or "").strip() if columns[1] else ""
    return GoldLine(number, named, right, question="" if asked == named else asked)
