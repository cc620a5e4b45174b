RETURN EXISTS {
  MATCH (n:Trace {id: $traceId}) USING INDEX SEEK n:Trace(id)
  WHERE n.projectId = $projectId
} OR EXISTS {
  MATCH (n:Session {traceId: $traceId}) USING INDEX SEEK n:Session(traceId, sequence)
  WHERE n.sequence IS NOT NULL AND n.projectId = $projectId
} OR EXISTS {
  MATCH (n:Operation {traceId: $traceId}) USING INDEX SEEK n:Operation(traceId, sequence)
  WHERE n.sequence IS NOT NULL AND n.projectId = $projectId
} OR EXISTS {
  MATCH (n:Variable {traceId: $traceId}) USING INDEX SEEK n:Variable(traceId, sequence)
  WHERE n.sequence IS NOT NULL AND n.projectId = $projectId
} AS begun
