UNWIND $rows AS row
MATCH (v:Variable {id: row.variableId})
USING INDEX SEEK v:Variable(id)
WHERE v.projectId = $projectId
MATCH (o:Operation {id: row.operationId})
USING INDEX SEEK o:Operation(id)
WHERE o.projectId = $projectId
MERGE (v)-[:INVALIDATED_BY]->(o)
