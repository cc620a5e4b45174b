UNWIND $ids AS id
MATCH (a:Attribution {id: id})
USING INDEX SEEK a:Attribution(id)
WHERE a.projectId = $projectId
DETACH DELETE a
RETURN count(*) AS count
