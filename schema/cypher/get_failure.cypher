UNWIND $ids AS id
MATCH (f:Failure {id: id})
USING INDEX SEEK f:Failure(id)
WHERE f.projectId = $projectId
RETURN collect([
  f.id, f.projectId, f.traceId, f.origin, f.questionId, f.answerId, f.expectedId, f.evidenceIds, f.question,
  f.prediction, f.goldAnswers, f.createdAt.epochSeconds * 1000000 + f.createdAt.microsecond, f.attributes
]) AS rows
