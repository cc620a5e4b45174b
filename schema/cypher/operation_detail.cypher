MATCH (o:Operation {id: $id})
USING INDEX SEEK o:Operation(id)
WHERE o.projectId = $projectId
RETURN
  COLLECT { MATCH (o)-[u:USED]->(v) RETURN v.id ORDER BY u.position, v.sequence } AS used,
  COLLECT { MATCH (o)<-[:GENERATED_BY]-(v) RETURN v.id ORDER BY v.sequence } AS generated,
  COLLECT { MATCH (o)<-[:INVALIDATED_BY]-(v) RETURN v.id ORDER BY v.sequence } AS invalidated
