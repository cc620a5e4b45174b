MATCH (n:Trace)
USING INDEX SEEK n:Trace(id)
WHERE ($label IS NULL OR $label = 'Trace') AND n.id STARTS WITH $reference
  AND n.projectId = $projectId AND ($traceId IS NULL OR n.id = $traceId)
RETURN 'Trace' AS label, n.id AS id LIMIT $count
UNION ALL
MATCH (n:Session)
USING INDEX SEEK n:Session(id)
WHERE ($label IS NULL OR $label = 'Session') AND n.id STARTS WITH $reference
  AND n.projectId = $projectId AND ($traceId IS NULL OR n.traceId = $traceId)
RETURN 'Session' AS label, n.id AS id LIMIT $count
UNION ALL
MATCH (n:Operation)
USING INDEX SEEK n:Operation(id)
WHERE ($label IS NULL OR $label = 'Operation') AND n.id STARTS WITH $reference
  AND n.projectId = $projectId AND ($traceId IS NULL OR n.traceId = $traceId)
RETURN 'Operation' AS label, n.id AS id LIMIT $count
UNION ALL
MATCH (n:Variable)
USING INDEX SEEK n:Variable(id)
WHERE ($label IS NULL OR $label = 'Variable') AND n.id STARTS WITH $reference
  AND n.projectId = $projectId AND ($traceId IS NULL OR n.traceId = $traceId)
RETURN 'Variable' AS label, n.id AS id LIMIT $count
UNION ALL
MATCH (:Variable)-[n:DERIVED_FROM]->(:Variable)
USING INDEX SEEK n:DERIVED_FROM(id)
WHERE ($label IS NULL OR $label = 'Derivation') AND n.id STARTS WITH $reference
  AND n.projectId = $projectId AND ($traceId IS NULL OR n.traceId = $traceId)
RETURN 'Derivation' AS label, n.id AS id LIMIT $count
UNION ALL
MATCH (n:Failure)
USING INDEX SEEK n:Failure(id)
WHERE ($label IS NULL OR $label = 'Failure') AND n.id STARTS WITH $reference
  AND n.projectId = $projectId AND ($traceId IS NULL OR n.traceId = $traceId)
RETURN 'Failure' AS label, n.id AS id LIMIT $count
UNION ALL
MATCH (n:Attribution)
USING INDEX SEEK n:Attribution(id)
WHERE ($label IS NULL OR $label = 'Attribution') AND n.id STARTS WITH $reference
  AND n.projectId = $projectId AND ($traceId IS NULL OR n.traceId = $traceId)
RETURN 'Attribution' AS label, n.id AS id LIMIT $count
