"""SQLite: the embedded store. One file, no server, readers in other processes."""
