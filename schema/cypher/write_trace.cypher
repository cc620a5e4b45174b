UNWIND $rows AS row
MERGE (t:Trace {id: row.id, projectId: $projectId})
ON CREATE SET t = row, t.createdAt = $epoch + duration({microseconds: row.createdAt})
ON MATCH SET t.attributes = row.attributes
WITH t
MATCH (s:Session {traceId: t.id})
WHERE s.projectId = $projectId
MERGE (s)-[:PART_OF]->(t)
