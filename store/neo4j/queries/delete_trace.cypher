MATCH (n:Trace {id: $traceId})
USING INDEX SEEK n:Trace(id)
WHERE n.projectId = $projectId
DETACH DELETE n
