DELETE FROM attribution WHERE id = ? AND trace_k = ?
