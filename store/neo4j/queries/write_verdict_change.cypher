UNWIND $rows AS row
MERGE (c:VerdictChange {id: row.id, projectId: $projectId})
SET c = row
