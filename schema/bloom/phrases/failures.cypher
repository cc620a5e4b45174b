MATCH path = (f:Failure {projectId: $project})-[:ASKED|ANSWERED|EXPECTED]->(:Variable)
WHERE f.traceId IS NOT NULL
RETURN path
LIMIT 1000
