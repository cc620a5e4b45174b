MATCH (f:Failure)
USING INDEX SEEK f:Failure(projectId, traceId, id)
WHERE f.projectId = $projectId AND f.traceId >= $place AND f.traceId <= $lastTrace
  AND f.id IS NOT NULL AND [f.traceId, f.id] > [$place, $last] AND NOT f.id IN $without
  AND {{wanted.failure}}
  AND {{wanted.explained}}
WITH f ORDER BY f.projectId, f.traceId, f.id LIMIT $count
RETURN collect([f.traceId, f.id]) AS keys
