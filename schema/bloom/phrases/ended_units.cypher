MATCH (t:Trace {projectId: $project})
MATCH (o:Operation {traceId: t.id})
WHERE o.sequence >= 0
MATCH path = (o)<-[:INVALIDATED_BY]-(:Variable)
RETURN path
LIMIT 1000
