UNWIND $ids AS id
MATCH (v:Variable {id: id})
USING INDEX SEEK v:Variable(id)
WHERE v.projectId = $projectId
RETURN collect([
  v.id,
  COLLECT { MATCH (v){{from}}[d:DERIVED_FROM]{{to}}() RETURN d.id ORDER BY d.sequence, d.id LIMIT $count }
]) AS rows
