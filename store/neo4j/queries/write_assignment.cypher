UNWIND $rows AS row
MERGE (a:Assignment {id: row.id, projectId: $projectId})
SET a = row
