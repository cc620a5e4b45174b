UNWIND $rows AS row
MERGE (v:Variable {id: row.id, projectId: $projectId})
ON CREATE SET v = row, v:$(row.kind),
  v.createdAt = CASE WHEN row.createdAt IS NOT NULL THEN $epoch + duration({microseconds: row.createdAt}) END
WITH v, row
MATCH (o:Operation {id: row.operationId})
USING INDEX SEEK o:Operation(id)
WHERE o.projectId = $projectId
MERGE (v)-[:GENERATED_BY]->(o)
