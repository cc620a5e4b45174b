UNWIND $ids AS id
MATCH (v:Variable {id: id})
USING INDEX SEEK v:Variable(id)
WHERE v.projectId = $projectId
WITH properties(v) AS v
RETURN collect([
  v.id, v.projectId, v.traceId, v.sessionId, v.externalId, v.name, v.className, v.version, v.occurrence, v.kind,
  v.category, v.comment, v.preview, v.value, v.valueHash, v.size, v.mediaType, v.sequence,
  v.createdAt.epochSeconds * 1000000 + v.createdAt.microsecond, v.location, v.attributes, v.operationId, v.revisionOf
]) AS rows
