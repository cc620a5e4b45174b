INSERT INTO migration (number, name, applied_at) VALUES (?, ?, ?)
