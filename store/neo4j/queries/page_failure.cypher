MATCH (f:Failure)
USING INDEX SEEK f:Failure(projectId, traceId)
WHERE f.projectId = $projectId AND f.traceId >= $place AND [f.traceId, f.id] > [$place, $last]
WITH f ORDER BY f.projectId, f.traceId, f.id LIMIT $count
RETURN collect([f.traceId, f.id]) AS keys
