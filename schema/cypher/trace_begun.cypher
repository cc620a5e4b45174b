RETURN EXISTS { MATCH (n:Trace {id: $traceId}) WHERE n.projectId = $projectId }
  OR EXISTS { MATCH (n:Session {traceId: $traceId}) WHERE n.sequence IS NOT NULL AND n.projectId = $projectId }
  OR EXISTS { MATCH (n:Operation {traceId: $traceId}) WHERE n.sequence IS NOT NULL AND n.projectId = $projectId }
  OR EXISTS { MATCH (n:Variable {traceId: $traceId}) WHERE n.sequence IS NOT NULL AND n.projectId = $projectId }
  AS begun
