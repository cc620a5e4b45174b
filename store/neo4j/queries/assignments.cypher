MATCH (a:Assignment {queueId: $id})
USING INDEX SEEK a:Assignment(queueId)
WHERE a.projectId = $projectId
RETURN collect(properties(a)) AS rows
