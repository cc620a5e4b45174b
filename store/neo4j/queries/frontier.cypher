UNWIND $ids AS id
MATCH (v:Variable {id: id})
USING INDEX SEEK v:Variable(id)
WHERE v.projectId = $projectId
  AND EXISTS { MATCH (v){{from}}[:DERIVED_FROM]{{to}}(n) WHERE n.sequence <= $until AND NOT n.id IN $ids }
RETURN collect(v.id) AS ids
