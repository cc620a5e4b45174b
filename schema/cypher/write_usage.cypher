UNWIND $rows AS row
MATCH (o:Operation {id: row.operationId})
WHERE o.projectId = $projectId
MATCH (v:Variable {id: row.variableId})
WHERE v.projectId = $projectId
MERGE (o)-[u:USED {position: row.position}]->(v)
ON CREATE SET u.role = row.role
