UNWIND $rows AS row
CREATE (v:Variable)
SET v = row, v:$(row.kind),
  v.createdAt = CASE WHEN row.createdAt IS NOT NULL THEN $epoch + duration({microseconds: row.createdAt}) END
WITH v, row
MATCH (o:Operation {id: row.operationId})
USING INDEX SEEK o:Operation(id)
WHERE o.projectId = $projectId
CREATE (v)-[:GENERATED_BY]->(o)
