MATCH (f:Failure)
USING INDEX SEEK f:Failure(projectId, traceId)
WHERE f.projectId = $projectId AND f.traceId >= coalesce($traceId, '') AND ($traceId IS NULL OR f.traceId = $traceId)
  AND NOT f.id IN $without
  AND {{wanted.failure}}
  AND {{wanted.explained}}
RETURN count(f) AS count
