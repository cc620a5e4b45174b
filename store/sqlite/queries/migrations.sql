-- name: exist
SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'migration'

-- name: any_tables
SELECT count(*) FROM sqlite_schema

-- name: create
CREATE TABLE migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT

-- name: list
SELECT number, name FROM migration ORDER BY number
