UNWIND $rows AS row
MATCH (o:Operation {id: row.operationId})
USING INDEX SEEK o:Operation(id)
MATCH (v:Variable {id: row.variableId})
USING INDEX SEEK v:Variable(id)
CREATE (o)-[:USED {role: row.role, position: row.position}]->(v)
