MATCH (f:Failure {projectId: $project})<-[:EXPLAINS]-(:Attribution)-[:BLAMES]->(o:Operation)
WHERE f.traceId IS NOT NULL
WITH o, count(DISTINCT f) AS failures
WHERE failures > toInteger($times)
MATCH path = (o)<-[:BLAMES]-(:Attribution)-[:EXPLAINS]->(:Failure)
RETURN path
LIMIT 1000
