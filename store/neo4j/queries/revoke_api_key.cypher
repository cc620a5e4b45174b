MATCH (k:ApiKey {id: $id})
USING INDEX SEEK k:ApiKey(id)
WHERE k.projectId = $projectId
SET k.revokedAt = coalesce(k.revokedAt, $at)
RETURN collect(properties(k)) AS rows
