MATCH (f:Failure)
USING INDEX SEEK f:Failure(projectId, traceId, id)
WHERE f.projectId = $projectId AND f.traceId >= $bounds.place AND f.traceId <= $bounds.lastTrace
  AND f.id IS NOT NULL AND [f.traceId, f.id] > [$bounds.place, $bounds.last] AND NOT f.id IN $wanted.without
  AND {{wanted.failure}}
  AND {{wanted.explained}}
WITH f ORDER BY f.projectId, f.traceId, f.id LIMIT $count
RETURN collect([f.traceId, f.id]) AS keys
