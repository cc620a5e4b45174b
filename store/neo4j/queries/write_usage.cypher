UNWIND $rows AS row
MATCH (o:Operation {id: row.operationId})
USING INDEX SEEK o:Operation(id)
WHERE o.projectId = $projectId
MATCH (v:Variable {id: row.variableId})
USING INDEX SEEK v:Variable(id)
WHERE v.projectId = $projectId
MERGE (o)-[u:USED {position: row.position}]->(v)
ON CREATE SET u.role = row.role, u.score = row.score
