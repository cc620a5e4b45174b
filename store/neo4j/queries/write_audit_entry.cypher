UNWIND $rows AS row
MERGE (e:AuditEntry {id: row.id})
ON CREATE SET e = row
WITH e
WHERE e.projectId = $projectId
RETURN count(e) AS count
