UNWIND $ids AS id
MATCH (t:Variable)-[d:DERIVED_FROM {id: id}]->(s:Variable)
USING INDEX SEEK d:DERIVED_FROM(id)
WHERE d.projectId = $projectId
WITH t, s, properties(d) AS d
RETURN collect([
  d.id, d.projectId, d.traceId, s.id, t.id, d.operationId, d.externalId, d.kind, d.category, d.comment, d.sequence,
  d.createdAt.epochSeconds * 1000000 + d.createdAt.microsecond, d.location, d.attributes
]) AS rows
