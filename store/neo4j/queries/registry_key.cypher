MATCH (k:ApiKey {id: $id})
USING INDEX SEEK k:ApiKey(id)
RETURN collect(properties(k)) AS rows
