UNWIND $traceIds AS traceId
MATCH (n:Session {traceId: traceId})
WHERE n.sequence IS NOT NULL AND n.projectId = $projectId
RETURN 'Session' AS label, null AS kind, count(n) AS count
UNION ALL
UNWIND $traceIds AS traceId
MATCH (n:Operation {traceId: traceId})
WHERE n.sequence IS NOT NULL AND n.projectId = $projectId
RETURN 'Operation' AS label, n.kind AS kind, count(n) AS count
UNION ALL
UNWIND $traceIds AS traceId
MATCH (n:Variable {traceId: traceId})
WHERE n.sequence IS NOT NULL AND n.projectId = $projectId
RETURN 'Variable' AS label, n.kind AS kind, count(n) AS count
UNION ALL
UNWIND $traceIds AS traceId
MATCH (:Variable)-[n:DERIVED_FROM {traceId: traceId}]->(:Variable)
WHERE n.sequence IS NOT NULL AND n.projectId = $projectId
RETURN 'Derivation' AS label, n.kind AS kind, count(n) AS count
UNION ALL
UNWIND $traceIds AS traceId
MATCH (n:Failure {traceId: traceId})
WHERE n.projectId = $projectId
RETURN 'Failure' AS label, null AS kind, count(n) AS count
UNION ALL
UNWIND $traceIds AS traceId
MATCH (n:Attribution {traceId: traceId})
WHERE n.projectId = $projectId
RETURN 'Attribution' AS label, null AS kind, count(n) AS count
