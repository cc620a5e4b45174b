UPDATE operation SET status = ?, ended_at = ?, attributes_k = coalesce(?, attributes_k)
WHERE k = ? AND trace_k = ? AND status = 'running'
