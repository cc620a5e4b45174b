UNWIND $ids AS id
MATCH (o:Operation {id: id})
USING INDEX SEEK o:Operation(id)
WHERE o.projectId = $projectId
WITH properties(o) AS o
RETURN collect([
  o.id, o.projectId, o.traceId, o.sessionId, o.externalId, o.name, o.kind, o.category, o.comment, o.status, o.sequence,
  o.startedAt.epochSeconds * 1000000 + o.startedAt.microsecond,
  o.endedAt.epochSeconds * 1000000 + o.endedAt.microsecond, o.location, o.attributes
]) AS rows
