UNWIND $ids AS id
MATCH (a:Attribution {failureId: id})
WHERE a.projectId = $projectId
RETURN collect(a.id) AS ids
