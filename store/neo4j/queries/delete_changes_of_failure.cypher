MATCH (c:VerdictChange {failureId: $id})
USING INDEX SEEK c:VerdictChange(failureId)
WHERE c.projectId = $projectId
DELETE c
