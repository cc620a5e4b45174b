MATCH (n:Failure {traceId: $traceId})
USING INDEX SEEK n:Failure(traceId)
WHERE n.projectId = $projectId
CALL (n) {
  DETACH DELETE n
} IN TRANSACTIONS OF 10000 ROWS
