UNWIND $rows AS row
MATCH (t:Variable {id: row.target})
WHERE t.projectId = $projectId
MATCH (s:Variable {id: row.source})
WHERE s.projectId = $projectId
MERGE (t)-[d:DERIVED_FROM {id: row.properties.id}]->(s)
ON CREATE SET d = row.properties, d.createdAt = $epoch + duration({microseconds: row.properties.createdAt})
