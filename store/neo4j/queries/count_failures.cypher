MATCH (f:Failure)
USING INDEX SEEK f:Failure(projectId, traceId)
WHERE f.projectId = $projectId AND f.traceId >= coalesce($bounds.traceId, '')
  AND ($bounds.traceId IS NULL OR f.traceId = $bounds.traceId)
  AND NOT f.id IN $wanted.without
  AND {{wanted.failure}}
  AND {{wanted.explained}}
RETURN count(f) AS count
