"""The words for ``instead of`` in many languages, as a part of patterns with ``re.VERBOSE``."""

INSTEAD_OF = r"""
    instead\s+of | rather\s+than | in\s+place\s+of | (?:an)?statt | anstelle(?:\s+von)? | en\s+(?:lugar|vez)\s+de
  | au\s+lieu\s+d[eu] | à\s+la\s+place\s+d[eu] | em\s+(?:vez|lugar)\s+d[eao] | invece\s+d[ei]\w* | al\s+posto\s+d[ei]\w*
  | in\s+plaats\s+van | i\s+stället\s+för | i\s+stedet\s+for | zamiast | вместо | замість
"""
"""What follows these words has been replaced."""
