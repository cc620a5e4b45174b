SELECT k FROM text WHERE hash = ? AND trace_k = ? AND text = ?
