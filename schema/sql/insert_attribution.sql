INSERT INTO attribution (k, id, trace_k, failure_k, error_type, operation_k, confidence, method, model, reason, evidence, candidates, tokens, cost, seconds, created_at, author, attributes)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
