UNWIND $rows AS row
MERGE (s:Session {id: row.id, projectId: $projectId})
ON CREATE SET s = row, s.createdAt = $epoch + duration({microseconds: row.createdAt})
