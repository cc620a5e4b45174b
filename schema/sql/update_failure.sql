UPDATE failure SET origin = ?, evidence_ids = ?, gold_answers = ?, attributes = ? WHERE id = ? AND trace_k = ?
