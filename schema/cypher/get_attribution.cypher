UNWIND $ids AS id
MATCH (a:Attribution {id: id})
USING INDEX SEEK a:Attribution(id)
WHERE a.projectId = $projectId
RETURN collect([
  a.id, a.projectId, a.traceId, a.failureId, a.errorType, a.operationId, a.confidence, a.method, a.model, a.reason,
  a.evidence, a.candidates, a.tokens, a.cost, a.seconds,
  a.createdAt.epochSeconds * 1000000 + a.createdAt.microsecond, a.author, a.attributes
]) AS rows
