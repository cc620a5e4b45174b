SELECT k FROM value WHERE trace_k = ? AND hash = ? AND media_type = ?
