UNWIND $ids AS id
MATCH (s:Session {id: id})
USING INDEX SEEK s:Session(id)
WHERE s.projectId = $projectId
RETURN collect([
  s.id, s.projectId, s.traceId, s.externalId, s.name, s.category, s.comment, s.sequence,
  s.createdAt.epochSeconds * 1000000 + s.createdAt.microsecond, s.attributes
]) AS rows
