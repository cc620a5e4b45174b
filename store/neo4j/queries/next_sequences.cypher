CALL () {
  MATCH (s:Session)
  USING INDEX SEEK s:Session(traceId, sequence)
  WHERE s.traceId = $traceId AND s.sequence >= 0 AND s.projectId = $projectId
  WITH s.sequence AS last ORDER BY s.traceId DESC, s.sequence DESC LIMIT 1
  RETURN collect(last) AS sessions
}
CALL () {
  MATCH (o:Operation)
  USING INDEX SEEK o:Operation(traceId, sequence)
  WHERE o.traceId = $traceId AND o.sequence >= 0 AND o.projectId = $projectId
  WITH o.sequence AS last ORDER BY o.traceId DESC, o.sequence DESC LIMIT 1
  RETURN collect(last) AS operations
}
CALL () {
  MATCH (v:Variable)
  USING INDEX SEEK v:Variable(traceId, sequence)
  WHERE v.traceId = $traceId AND v.sequence >= 0 AND v.projectId = $projectId
  WITH v.sequence AS last ORDER BY v.traceId DESC, v.sequence DESC LIMIT 1
  RETURN collect(last) AS variables
}
CALL () {
  MATCH (:Variable)-[d:DERIVED_FROM]->(:Variable)
  USING INDEX SEEK d:DERIVED_FROM(traceId, sequence)
  WHERE d.traceId = $traceId AND d.sequence >= 0 AND d.projectId = $projectId
  WITH d.sequence AS last ORDER BY d.traceId DESC, d.sequence DESC LIMIT 1
  RETURN collect(last) AS derivations
}
RETURN [sessions, operations, variables, derivations] AS found
