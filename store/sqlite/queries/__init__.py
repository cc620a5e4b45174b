"""The SQL texts."""

from __future__ import annotations

from store.shared.texts import texts_of
from store.sqlite.tables import FILLINGS

sql = texts_of(__name__, ".sql", FILLINGS)
