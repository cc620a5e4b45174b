UNWIND $rows AS row
MERGE (j:Job {id: row.id})
ON CREATE SET j = row
WITH j
WHERE j.projectId = $projectId
RETURN collect(properties(j)) AS rows
