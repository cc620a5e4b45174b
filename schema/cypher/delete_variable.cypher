MATCH (n:Variable {traceId: $traceId})
WHERE n.sequence IS NOT NULL AND n.projectId = $projectId
CALL (n) {
  DETACH DELETE n
} IN TRANSACTIONS OF 10000 ROWS
