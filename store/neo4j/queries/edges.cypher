MATCH (t:Variable)-[d:DERIVED_FROM]->(s:Variable)
USING INDEX SEEK d:DERIVED_FROM(traceId, sequence)
WHERE d.traceId = $traceId AND d.sequence IS NOT NULL AND d.projectId = $projectId
WITH d, t, s ORDER BY d.traceId, d.sequence, d.id
WITH collect([s.id, t.id, d.operationId, d.kind]) AS found
UNWIND range(0, size(found) - 1, 10000) AS start
RETURN found[start..start + 10000] AS rows
