MATCH (c:VerdictChange {traceId: $traceId})
USING INDEX SEEK c:VerdictChange(traceId)
WHERE c.projectId = $projectId
CALL (c) {
  DELETE c
} IN TRANSACTIONS OF 10000 ROWS
