MATCH (n:Attribution {traceId: $traceId})
WHERE n.projectId = $projectId
CALL (n) {
  DETACH DELETE n
} IN TRANSACTIONS OF 10000 ROWS
