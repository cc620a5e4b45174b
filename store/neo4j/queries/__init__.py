"""The Cypher texts.

The server plans a text anew, for up to a second of a processor, for each combination of types and sizes of its
parameters: lists of 1, of 10 and of 100 ids are three combinations. The server does not look into maps. So all
parameters of a text are sent as one map, ``given``: ``$ids`` in a file is sent as ``$given.ids``.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache

from store.neo4j.labels import FILLINGS
from store.shared.texts import texts_of

_PARAMETER = re.compile(r"\$(?=[a-z])")

cypher = texts_of(__name__, ".cypher", FILLINGS)


@cache
def sent(name: str, about: StrEnum | None = None) -> str:
    """A text for the server, with all parameters in the map ``given``."""
    return _PARAMETER.sub("$given.", cypher(name, about))
