UNWIND $ids AS id
MATCH (v:Variable {id: id}){{from}}[:DERIVED_FROM]{{to}}(n)
USING INDEX SEEK v:Variable(id)
WHERE v.projectId = $projectId
RETURN collect([v.id, n.id, n.sequence]) AS pairs
