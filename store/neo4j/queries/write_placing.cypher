UNWIND $rows AS row
MATCH (v:Variable {id: row.variableId})
USING INDEX SEEK v:Variable(id)
WHERE v.projectId = $projectId AND v.traceId = row.traceId
SET v.sequence = row.sequence
