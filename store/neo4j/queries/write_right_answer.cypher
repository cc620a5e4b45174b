UNWIND $rows AS row
MATCH (v:Variable {id: row.variableId})
USING INDEX SEEK v:Variable(id)
WHERE v.projectId = $projectId AND v.traceId = row.traceId AND v.right IS NULL
SET v.right = true
