MATCH (f:Failure {projectId: $project, question: $question})-[:ASKED]->(q:Variable)
WHERE f.traceId IS NOT NULL
MATCH path = (q)<-[:USED]-(:Operation:Retrieval)<-[:GENERATED_BY]-(read:Variable)
OPTIONAL MATCH stored = (read)-[:DERIVED_FROM {kind: 'Read'}]->(:Variable)
RETURN path, stored
