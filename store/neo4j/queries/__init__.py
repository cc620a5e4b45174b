"""The Cypher texts of the team's store, and how they are sent, so that the server plans each once.

A plan takes up to a second of the server's processor, several seconds soon after its start. The server plans a text
anew

- for each combination of the types and the sizes of its parameters: lists of 1, of 10 and of 100 ids are three. It does
  not look into maps. So all parameters of a text are sent as one map, ``given``: what a file calls ``$ids`` is
  ``$given.ids`` on its way;
- when it has run ten times, and whenever what is stored has grown by much, which a young store does all the time. No
  text gains by that: each names its way into the graph (``USING INDEX SEEK``), and plans made for an empty store and
  for a full one differ at most in the order of filters and in where properties are read ahead, not in an index or a
  way. So the plan that is there is kept (``replan=skip``), until the server is started anew or an index is made.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache

from store.neo4j.labels import FILLINGS
from store.texts import texts_of

_PARAMETER = re.compile(r"\$(?=[a-z])")
_OPTIONS = "CYPHER replan=skip\n"

cypher = texts_of(__name__, ".cypher", FILLINGS)


@cache
def sent(name: str, about: StrEnum | None = None) -> str:
    """A text as it is sent to the server, with all its parameters in the map ``given``."""
    return _OPTIONS + _PARAMETER.sub("$given.", cypher(name, about))
