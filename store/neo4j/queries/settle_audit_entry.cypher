UNWIND $rows AS row
MATCH (e:AuditEntry {id: row.id})
USING INDEX SEEK e:AuditEntry(id)
WHERE e.projectId = $projectId AND e.outcome = 'begun'
SET e.outcome = row.outcome
