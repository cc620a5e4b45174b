UNWIND $ids AS id
MATCH (v:Variable {id: id})
USING INDEX SEEK v:Variable(id)
WHERE v.projectId = $projectId AND v.kind IN $kinds
RETURN collect(v.id) AS ids
