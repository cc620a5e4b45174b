INSERT OR IGNORE INTO usage (operation_k, position, variable_k, role, score)
VALUES (?, ?, ?, ?, ?)
