INSERT INTO trace (k, id, project, external_id, name, source, created_at, attributes)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
