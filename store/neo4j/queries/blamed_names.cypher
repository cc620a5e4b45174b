MATCH (f:Failure)
USING INDEX SEEK f:Failure(projectId, traceId)
WHERE f.projectId = $projectId AND f.traceId >= $firstTrace AND f.traceId <= $lastTrace
MATCH (f)<-[:EXPLAINS]-(a)-[:BLAMES]->(o)
RETURN collect(DISTINCT coalesce(o.name, o.category, o.kind)) AS names
