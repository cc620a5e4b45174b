"""What is wrong with a reply that can't be used: cut off, empty, only thoughts, or a repetition without an end."""

from __future__ import annotations

from attribution.llm.transport.schemas import Rejected
from attribution.llm.transport.text_calls import without_thoughts

_LONGEST_PERIOD = 300
"""A repeated part is at most this long, in characters."""
_TIMES = 4
_SETTING = "MEMTRACE_LLM_OUTPUT_TOKENS allows longer replies"


def told(content: str) -> str:
    """The content of a reply without thoughts.

    Raises:
        Rejected: nothing is left; the reason is for the model to read.
    """
    found = without_thoughts(content)
    if not found:
        raise Rejected("the reply has only thoughts" if content.strip() else "the reply is empty")
    return found


def cut_off(content: str, tokens: int) -> str:
    """Why a reply was cut off at its limit of tokens, in words."""
    if not content.strip():
        return f"the model used all {tokens:,} tokens of a reply for thoughts, and said nothing; {_SETTING}"
    if not without_thoughts(content):
        return f"the model was still thinking when its reply was cut off after {tokens:,} tokens; {_SETTING}"
    if repeats(content):
        return f"the model repeats the same words without an end: its reply was cut off after {tokens:,} tokens"
    return f"the model's reply is longer than {tokens:,} tokens and was cut; {_SETTING}"


def repeats(text: str) -> bool:
    """Whether a text ends with the same part several times."""
    end = text.rstrip()[-_LONGEST_PERIOD * _TIMES :]
    for period in range(1, len(end) // _TIMES + 1):
        if end[-period:] * _TIMES == end[-period * _TIMES :] and len(end) >= 40:
            return True
    return False
