"""The Cypher texts of the team's store.

The server plans a text anew, up to a second of a processor, for each combination of the types and the sizes of its
parameters; a list of 1, of 10 and of 100 ids are three. It does not look into maps. So all parameters of a text are
sent as one map, ``given``: what a file calls ``$ids`` is ``$given.ids`` on its way.
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
    """A text as it is sent to the server, with all its parameters in the map ``given``."""
    return _PARAMETER.sub("$given.", cypher(name, about))
