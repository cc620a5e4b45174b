MATCH (n:Variable {traceId: $traceId})
USING INDEX SEEK n:Variable(traceId, sequence)
WHERE n.sequence IS NOT NULL AND n.projectId = $projectId
CALL (n) {
  DETACH DELETE n
} IN TRANSACTIONS OF 10000 ROWS
