UPDATE trace
SET attributes = ?, name = coalesce(name, ?), written_at = CAST(unixepoch('subsec') * 1000000 AS INTEGER)
WHERE k = ?
