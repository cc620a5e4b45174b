MATCH (a:Attribution)
USING INDEX SEEK a:Attribution(traceId)
WHERE a.traceId = $traceId AND a.projectId = $projectId AND a.operationName IS NOT NULL
WITH DISTINCT a.operationName AS name
RETURN collect(name) AS names
