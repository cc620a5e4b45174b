UNWIND $ids AS id
MATCH (j:Job {id: id})
USING INDEX SEEK j:Job(id)
WHERE j.projectId = $projectId
RETURN collect(properties(j)) AS rows
