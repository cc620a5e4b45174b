UNWIND $rows AS row
MERGE (s:Session {id: row.id, projectId: $projectId})
ON CREATE SET s = row,
  s.createdAt = CASE WHEN row.createdAt IS NOT NULL THEN $epoch + duration({microseconds: row.createdAt}) END
