UNWIND $rows AS row
MATCH (v:Variable {id: row.variableId})
USING INDEX SEEK v:Variable(id)
WHERE v.projectId = $projectId AND v.traceId = row.traceId AND v.operationId IS NULL
MATCH (o:Operation {id: row.operationId})
USING INDEX SEEK o:Operation(id)
WHERE o.projectId = $projectId
SET v += row.properties,
  v.createdAt = CASE WHEN row.createdAt IS NOT NULL THEN $epoch + duration({microseconds: row.createdAt}) END
MERGE (v)-[:GENERATED_BY]->(o)
