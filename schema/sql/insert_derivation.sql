INSERT INTO derivation (k, id, trace_k, source_k, target_k, operation_k, external_id, kind, category_k, comment_k, sequence, created_at, location_k, attributes_k)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
