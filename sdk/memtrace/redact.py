"""Ready-made masks: functions from text to text, for ``configure(redact=[emails, cards])``."""

from __future__ import annotations

import re

_EMAIL = re.compile(r"(?<![\w.+-])[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,63}(?![\w-])")
_CARD = re.compile(r"(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-])", re.ASCII)
_PHONE = re.compile(
    r"(?<![\w.+:/-])(?:\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d(?:[ .-]?\d){5,12}"
    r"|\(\d{2,5}\)[ .-]?\d{3,4}(?:[ .-]?\d{2,4}){1,2}"
    r"|\d{3}[ .-]\d{3}[ .-]\d{4}"
    r"|0\d{2,4}[ /-]\d{3,4}(?:[ -]?\d{2,4}){1,2})(?![\w-])",
    re.ASCII,
)
_TOKEN = re.compile(
    r"(?<![\w-])(?:"
    r"(?:sk|pk|rk)[-_][\w-]{16,}"
    r"|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|hf_\w{20,}"
    r"|xox[abeoprs]-[\w-]{10,}"
    r"|A(?:KIA|SIA)[A-Z0-9]{16}|AIza[\w-]{30,}|ya29\.[\w-]{20,}"
    r"|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
    r")|(?i:(?<=bearer )[\w.~+/-]{16,}=*)",
    re.ASCII,
)
_SHORTEST_CARD, _LONGEST_CARD = 13, 19


def emails(text: str) -> str:
    """Replace every e-mail address by ``[EMAIL]``."""
    return _EMAIL.sub("[EMAIL]", text) if "@" in text else text


def phones(text: str) -> str:
    """Replace every telephone number (written with ``+``, in groups or with a leading 0) by ``[PHONE]``."""
    return _PHONE.sub("[PHONE]", text)


def cards(text: str) -> str:
    """Replace every number of 13 to 19 digits that passes the check of payment cards (Luhn) by ``[CARD]``."""
    return _CARD.sub(lambda found: "[CARD]" if _is_card(found[0]) else found[0], text)


def tokens(text: str) -> str:
    """Replace texts with the form of an API key, an access token or a JSON web token by ``[TOKEN]``."""
    return _TOKEN.sub("[TOKEN]", text)


def _is_card(text: str) -> bool:
    digits = [int(digit) for digit in text if digit.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (
        _SHORTEST_CARD <= len(digits) <= _LONGEST_CARD
        and any(digits)
        and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
    )


EVERYTHING = (tokens, emails, cards, phones)
"""All masks, in an order in which no mask hides a text that a later mask has to find."""
