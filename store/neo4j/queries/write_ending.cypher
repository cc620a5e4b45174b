UNWIND $rows AS row
MATCH (o:Operation {id: row.operationId})
USING INDEX SEEK o:Operation(id)
WHERE o.projectId = $projectId AND o.status = 'running'
SET o.status = row.status, o.attributes = coalesce(row.attributes, o.attributes),
  o.endedAt = CASE WHEN row.endedAt IS NOT NULL THEN $epoch + duration({microseconds: row.endedAt}) END
