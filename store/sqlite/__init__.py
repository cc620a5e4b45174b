"""SQLite, the embedded store: one file without a server; other processes may read and write the file."""
