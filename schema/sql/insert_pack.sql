INSERT INTO pack (k, id, trace_k, raw_size, data)
VALUES (?, ?, ?, ?, ?)
