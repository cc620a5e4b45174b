UNWIND $ids AS id
MATCH (v:Variable {id: id})
USING INDEX SEEK v:Variable(id)
WHERE v.projectId = $projectId
RETURN collect([
  v.id,
  COLLECT { MATCH (v)<-[:USED]-(o) WITH DISTINCT o ORDER BY o.sequence, o.id LIMIT $count RETURN o.id }
]) AS rows
