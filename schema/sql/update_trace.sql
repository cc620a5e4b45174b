UPDATE trace SET attributes = ?, written_at = CAST(unixepoch('subsec') * 1000000 AS INTEGER) WHERE k = ?
