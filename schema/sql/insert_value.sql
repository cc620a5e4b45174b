INSERT INTO value (k, trace_k, hash, size, media_type, text, pack_k, pack_offset)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
