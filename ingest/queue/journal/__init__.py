"""The queue of a single server: a SQLite file."""
