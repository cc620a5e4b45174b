MATCH path = (f:Failure {projectId: $project})<-[:EXPLAINS]-(:Attribution)-[:LOST]->(:Operation)
WHERE f.traceId IS NOT NULL
RETURN path
LIMIT 1000
