MATCH (n:Trace {id: $traceId})
WHERE n.projectId = $projectId
DETACH DELETE n
