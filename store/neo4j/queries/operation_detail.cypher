UNWIND $ids AS id
MATCH (o:Operation {id: id})
USING INDEX SEEK o:Operation(id)
WHERE o.projectId = $projectId
RETURN collect([
  o.id,
  COLLECT { MATCH (o)-[u:USED]->(v) RETURN v.id ORDER BY u.position, v.sequence },
  COLLECT { MATCH (o)<-[:GENERATED_BY]-(v) RETURN v.id ORDER BY v.sequence },
  COLLECT { MATCH (o)<-[:INVALIDATED_BY]-(v) RETURN v.id ORDER BY v.sequence }
]) AS rows
