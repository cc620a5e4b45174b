"""The Cypher texts of the team's store."""

from __future__ import annotations

from store.neo4j.labels import FILLINGS
from store.texts import texts_of

cypher = texts_of(__name__, ".cypher", FILLINGS)
