MATCH (a:Attribution {errorType: 'RetrievalError'})-[:EXPLAINS]->(f:Failure {projectId: $project})
WHERE f.traceId IS NOT NULL
MATCH path = (f)<-[:EXPLAINS]-(a)-[:BLAMES]->(o:Operation)
OPTIONAL MATCH missed = (a)-[:CITES]->(:Variable:MemoryUnit)
OPTIONAL MATCH returned = (o)<-[:GENERATED_BY]-(:Variable)
RETURN path, missed, returned
LIMIT 1000
