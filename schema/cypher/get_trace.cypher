UNWIND $ids AS id
MATCH (t:Trace {id: id})
USING INDEX SEEK t:Trace(id)
WHERE t.projectId = $projectId
RETURN collect([
  t.id, t.projectId, t.externalId, t.name, t.source,
  t.createdAt.epochSeconds * 1000000 + t.createdAt.microsecond, t.attributes
]) AS rows
