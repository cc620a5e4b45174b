UNWIND $rows AS row
MERGE (k:ApiKey {id: row.id})
ON CREATE SET k = row
WITH k
WHERE k.projectId = $projectId
RETURN collect(properties(k)) AS rows
