"""The SQL texts of the embedded store."""

from __future__ import annotations

from store.sqlite.tables import FILLINGS
from store.texts import texts_of

sql = texts_of(__name__, ".sql", FILLINGS)
