INSERT INTO trace (k, id, project, external_id, name, source, created_at, attributes, written_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, CAST(unixepoch('subsec') * 1000000 AS INTEGER))
