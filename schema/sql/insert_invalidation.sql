INSERT OR IGNORE INTO invalidation (variable_k, operation_k)
VALUES (?, ?)
