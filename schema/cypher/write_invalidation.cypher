UNWIND $rows AS row
MATCH (v:Variable {id: row.variableId})
WHERE v.projectId = $projectId
MATCH (o:Operation {id: row.operationId})
WHERE o.projectId = $projectId
MERGE (v)-[:INVALIDATED_BY]->(o)
