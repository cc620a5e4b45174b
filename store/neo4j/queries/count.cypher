UNWIND $traceIds AS traceId
MATCH (n:Session {traceId: traceId})
USING INDEX SEEK n:Session(traceId, sequence)
WHERE n.sequence IS NOT NULL AND n.projectId = $projectId
RETURN 'Session' AS label, null AS kind, count(n) AS count, 0 AS rights
UNION ALL
UNWIND $traceIds AS traceId
MATCH (n:Operation {traceId: traceId})
USING INDEX SEEK n:Operation(traceId, sequence)
WHERE n.sequence IS NOT NULL AND n.projectId = $projectId
RETURN 'Operation' AS label, n.kind AS kind, count(n) AS count, 0 AS rights
UNION ALL
UNWIND $traceIds AS traceId
MATCH (n:Variable {traceId: traceId})
USING INDEX SEEK n:Variable(traceId, sequence)
WHERE n.sequence IS NOT NULL AND n.projectId = $projectId
RETURN 'Variable' AS label, n.kind AS kind, count(n) AS count, count(CASE WHEN n.right THEN 1 END) AS rights
UNION ALL
UNWIND $traceIds AS traceId
MATCH (:Variable)-[n:DERIVED_FROM {traceId: traceId}]->(:Variable)
USING INDEX SEEK n:DERIVED_FROM(traceId, sequence)
WHERE n.sequence IS NOT NULL AND n.projectId = $projectId
RETURN 'Derivation' AS label, n.kind AS kind, count(n) AS count, 0 AS rights
UNION ALL
UNWIND $traceIds AS traceId
MATCH (n:Failure {traceId: traceId})
USING INDEX SEEK n:Failure(traceId)
WHERE n.projectId = $projectId
RETURN 'Failure' AS label, null AS kind, count(n) AS count, 0 AS rights
UNION ALL
UNWIND $traceIds AS traceId
MATCH (n:Attribution {traceId: traceId})
USING INDEX SEEK n:Attribution(traceId)
WHERE n.projectId = $projectId
RETURN 'Attribution' AS label, null AS kind, count(n) AS count, 0 AS rights
