UNWIND $ids AS id
MATCH (s:Variable {id: id})<-[d:DERIVED_FROM]-(t)
USING INDEX SEEK s:Variable(id)
WHERE s.projectId = $projectId AND ($among IS NULL OR t.id IN $among)
WITH t, s, properties(d) AS d
RETURN collect([
  d.id, d.projectId, d.traceId, s.id, t.id, d.operationId, d.externalId, d.kind, d.category, d.comment, d.sequence,
  d.createdAt.epochSeconds * 1000000 + d.createdAt.microsecond, d.location, d.attributes
]) AS rows
