UNWIND $ids AS id
MATCH (a:Attribution {failureId: id})
USING INDEX SEEK a:Attribution(failureId)
WHERE a.projectId = $projectId
RETURN collect(a.id) AS ids
