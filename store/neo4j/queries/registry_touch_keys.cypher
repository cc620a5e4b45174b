UNWIND $rows AS row
MATCH (k:ApiKey {id: row.id})
USING INDEX SEEK k:ApiKey(id)
WHERE k.lastUsedAt IS NULL OR k.lastUsedAt < row.at
SET k.lastUsedAt = row.at
