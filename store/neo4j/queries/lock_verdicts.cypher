// A verdict is set first: that locks it, so that what is read of it and of its history stays true until it is replaced.
UNWIND $ids AS id
MATCH (a:Attribution {id: id})
USING INDEX SEEK a:Attribution(id)
WHERE a.projectId = $projectId
SET a.projectId = $projectId
RETURN collect(a.id) AS ids
