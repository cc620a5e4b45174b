MATCH (n:{{label}} {traceId: $traceId})
USING INDEX SEEK n:{{label}}(traceId)
WHERE n.projectId = $projectId
CALL (n) {
  DETACH DELETE n
} IN TRANSACTIONS OF 10000 ROWS
