UPDATE variable SET sequence = ? WHERE k = ? AND trace_k = ?
