MATCH path = (f:Failure {projectId: $project})<-[:EXPLAINS]-(a:Attribution {errorType: $type})
WHERE f.traceId IS NOT NULL
OPTIONAL MATCH blamed = (a)-[:BLAMES]->(:Operation)
RETURN path, blamed
LIMIT 1000
