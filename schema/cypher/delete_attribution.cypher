MATCH (n:Attribution {traceId: $traceId})
USING INDEX SEEK n:Attribution(traceId)
WHERE n.projectId = $projectId
CALL (n) {
  DETACH DELETE n
} IN TRANSACTIONS OF 10000 ROWS
