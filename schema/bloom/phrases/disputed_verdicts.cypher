MATCH (one:Attribution)-[:EXPLAINS]->(f:Failure {projectId: $project})<-[:EXPLAINS]-(other:Attribution)
WHERE f.traceId IS NOT NULL AND one.method = 'human' AND other.method <> 'human' AND one.errorType <> other.errorType
MATCH path = (one)-[:EXPLAINS]->(f)<-[:EXPLAINS]-(other)
OPTIONAL MATCH blamed = (one)-[:BLAMES]->(:Operation)
OPTIONAL MATCH accused = (other)-[:BLAMES]->(:Operation)
RETURN path, blamed, accused
LIMIT 1000
