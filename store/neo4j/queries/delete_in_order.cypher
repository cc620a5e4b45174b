MATCH (n:{{label}} {traceId: $traceId})
USING INDEX SEEK n:{{label}}(traceId, sequence)
WHERE n.sequence IS NOT NULL AND n.projectId = $projectId
CALL (n) {
  DETACH DELETE n
} IN TRANSACTIONS OF 10000 ROWS
