INSERT INTO text (k, trace_k, hash, text)
VALUES (?, ?, ?, ?)
