UNWIND $ids AS id
MATCH (c:VerdictChange {failureId: id})
USING INDEX SEEK c:VerdictChange(failureId)
WHERE c.projectId = $projectId
RETURN collect(properties(c)) AS rows
