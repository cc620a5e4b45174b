MATCH (o:Operation {traceId: $traceId})
USING INDEX SEEK o:Operation(traceId, sequence)
WHERE o.sequence IS NOT NULL AND o.projectId = $projectId
MATCH (o)<-[:INVALIDATED_BY]-(v:Variable)
WITH o, v ORDER BY o.sequence, o.id, v.sequence, v.id
WITH collect([v.id, o.id]) AS found
UNWIND range(0, size(found) - 1, 10000) AS start
RETURN found[start..start + 10000] AS rows
