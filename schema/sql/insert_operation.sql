INSERT INTO operation (k, id, trace_k, session_k, external_k, name_k, kind, category_k, comment_k, status, sequence, started_at, ended_at, location_k, attributes_k)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
