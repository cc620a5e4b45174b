UNWIND $ids AS id
MATCH (t:Trace {id: id})
USING INDEX SEEK t:Trace(id)
WHERE t.projectId = $projectId
RETURN collect(t.id) AS ids
