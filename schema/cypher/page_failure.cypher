MATCH (f:Failure)
USING INDEX SEEK f:Failure(projectId, traceId)
WHERE f.projectId = $projectId AND f.traceId >= $place AND [f.traceId, f.id] > [$place, $last]
  AND ($traceId IS NULL OR f.traceId = $traceId)
WITH f ORDER BY f.traceId, f.id LIMIT $count
RETURN collect([f.traceId, f.id]) AS keys
