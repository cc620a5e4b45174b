MATCH (o:Operation {traceId: $traceId})
USING INDEX SEEK o:Operation(traceId, sequence)
WHERE o.sequence IS NOT NULL AND o.projectId = $projectId
MATCH (o)-[u:USED]->(v:Variable)
WITH o, u, v ORDER BY o.sequence, o.id, u.position, v.sequence, v.id
WITH collect([o.id, v.id, u.role, u.position, u.score]) AS found
UNWIND range(0, size(found) - 1, 10000) AS start
RETURN found[start..start + 10000] AS rows
