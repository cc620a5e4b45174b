INSERT INTO session (k, id, trace_k, external_k, name_k, category_k, comment_k, sequence, created_at, attributes_k)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
