MATCH path = (f:Failure {projectId: $project, question: $question})<-[:EXPLAINS]-(a:Attribution)
WHERE f.traceId IS NOT NULL
OPTIONAL MATCH blamed = (a)-[:BLAMES]->(:Operation)
OPTIONAL MATCH cited = (a)-[:CITES]->(:Variable)
RETURN path, blamed, cited
