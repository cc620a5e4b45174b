"""The SQL texts of the journal."""

from __future__ import annotations

from store.shared.texts import texts_of

sql = texts_of(__name__, ".sql", {})
