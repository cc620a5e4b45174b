MATCH (f:Failure)
USING INDEX SEEK f:Failure(projectId, traceId)
WHERE f.projectId = $projectId AND f.traceId >= coalesce($traceId, '') AND ($traceId IS NULL OR f.traceId = $traceId)
MATCH (f)<-[:EXPLAINS]-(a)
WHERE {{wanted.newest a}}
WITH a.method AS method, a.errorType AS errorType, a.operationName AS operation,
  count(DISTINCT f) AS failures
RETURN collect([method, errorType, operation, failures]) AS groups
