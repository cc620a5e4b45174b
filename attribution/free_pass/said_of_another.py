"""A text about another speaker does not have a fact: "Deborah's occupation is engineer" lacks Jolene's project."""

from __future__ import annotations

from attribution.needed.messages import Messages
from attribution.needed.presence import Detail
from attribution.text.persons import FIRST_PERSON
from attribution.text.tokens import tokens

_FIRST = 2
"""The number of words at the beginning of a sentence that name whom it is about."""
_GENITIVES = ("s", "'s", "\u2019s")


def is_of_another(messages: Messages, detail: Detail, quote: str) -> bool:
    """Whether a quote begins with the name of another speaker than the one who told the detail of themselves.

    A quote that names the speaker, too, or that speaks in the first person, may be about the speaker.
    """
    owner = messages.speakers.get(detail.message_id)
    if owner is None or not FIRST_PERSON.search(detail.sentence.text) or FIRST_PERSON.search(quote):
        return False
    words = [one.word for one in tokens(quote)]
    named = {form for word in words for form in (word, *(word.removesuffix(ending) for ending in _GENITIVES))}
    first = {form for word in words[:_FIRST] for form in (word, *(word.removesuffix(ending) for ending in _GENITIVES))}
    names = {one: {token.word for token in tokens(one)} for one in set(messages.speakers.values())}
    others = [one for one, parts in names.items() if one != owner and parts and parts <= first]
    return bool(others) and names[owner].isdisjoint(named)
