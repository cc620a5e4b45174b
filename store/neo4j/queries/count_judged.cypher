// Counts failures with a person's verdict out of the index alone.
MATCH (a:Attribution)
USING INDEX SEEK a:Attribution(projectId, methodKey, failureId)
WHERE a.projectId = $projectId AND a.methodKey = $wanted.human AND a.failureId IS NOT NULL AND NOT a.failureId IN $wanted.without
RETURN count(DISTINCT a.failureId) AS count
