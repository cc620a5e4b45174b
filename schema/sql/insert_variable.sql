INSERT INTO variable (k, id, trace_k, session_k, operation_k, revision_k, external_k, name_k, class_k, version, occurrence, kind, category_k, comment_k, value_k, sequence, created_at, location_k, attributes_k)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
