"""The advice that a command gives if there is nothing to show."""

from __future__ import annotations

NO_TRACE = (
    "There are no traces in this project. Record a program: memtrace run -- python app.py; or: memtrace import PATH"
)
NO_ANSWER = (
    "There are no answers. If the program does not mark its answers, find the reply by its words (memtrace search) "
    'and mark it: memtrace fail ID "the right answer"'
)
NO_FAILURE = (
    'There is no failure. `memtrace answers` lists answers; mark a wrong one with: memtrace fail ID "the right answer"'
)
