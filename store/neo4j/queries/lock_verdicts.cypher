// Setting a property locks a verdict, so that nobody changes the verdict or its history before the replacement.
UNWIND $ids AS id
MATCH (a:Attribution {id: id})
USING INDEX SEEK a:Attribution(id)
WHERE a.projectId = $projectId
SET a.projectId = $projectId
RETURN collect(a.id) AS ids
