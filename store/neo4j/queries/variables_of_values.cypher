MATCH (v:Variable {traceId: $traceId})
USING INDEX SEEK v:Variable(traceId, sequence)
WHERE v.sequence IS NOT NULL AND v.projectId = $projectId AND v.occurrence = 0 AND v.valueHash IN $hashes
WITH v ORDER BY v.sequence LIMIT $count
RETURN collect(v.id) AS ids
