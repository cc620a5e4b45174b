"""The queue of one server: a SQLite file."""
