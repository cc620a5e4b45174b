MATCH (n:Trace)
USING INDEX SEEK n:Trace(id)
WHERE ($asked.label IS NULL OR $asked.label = 'Trace') AND n.id STARTS WITH $asked.reference
  AND n.projectId = $projectId AND ($asked.traceId IS NULL OR n.id = $asked.traceId)
RETURN 'Trace' AS label, n.id AS id LIMIT $count
UNION ALL
MATCH (n:Session)
USING INDEX SEEK n:Session(id)
WHERE ($asked.label IS NULL OR $asked.label = 'Session') AND n.id STARTS WITH $asked.reference
  AND n.projectId = $projectId AND ($asked.traceId IS NULL OR n.traceId = $asked.traceId)
RETURN 'Session' AS label, n.id AS id LIMIT $count
UNION ALL
MATCH (n:Operation)
USING INDEX SEEK n:Operation(id)
WHERE ($asked.label IS NULL OR $asked.label = 'Operation') AND n.id STARTS WITH $asked.reference
  AND n.projectId = $projectId AND ($asked.traceId IS NULL OR n.traceId = $asked.traceId)
RETURN 'Operation' AS label, n.id AS id LIMIT $count
UNION ALL
MATCH (n:Variable)
USING INDEX SEEK n:Variable(id)
WHERE ($asked.label IS NULL OR $asked.label = 'Variable') AND n.id STARTS WITH $asked.reference
  AND n.projectId = $projectId AND ($asked.traceId IS NULL OR n.traceId = $asked.traceId)
RETURN 'Variable' AS label, n.id AS id LIMIT $count
UNION ALL
MATCH (:Variable)-[n:DERIVED_FROM]->(:Variable)
USING INDEX SEEK n:DERIVED_FROM(id)
WHERE ($asked.label IS NULL OR $asked.label = 'Derivation') AND n.id STARTS WITH $asked.reference
  AND n.projectId = $projectId AND ($asked.traceId IS NULL OR n.traceId = $asked.traceId)
RETURN 'Derivation' AS label, n.id AS id LIMIT $count
UNION ALL
MATCH (n:Failure)
USING INDEX SEEK n:Failure(id)
WHERE ($asked.label IS NULL OR $asked.label = 'Failure') AND n.id STARTS WITH $asked.reference
  AND n.projectId = $projectId AND ($asked.traceId IS NULL OR n.traceId = $asked.traceId)
RETURN 'Failure' AS label, n.id AS id LIMIT $count
UNION ALL
MATCH (n:Attribution)
USING INDEX SEEK n:Attribution(id)
WHERE ($asked.label IS NULL OR $asked.label = 'Attribution') AND n.id STARTS WITH $asked.reference
  AND n.projectId = $projectId AND ($asked.traceId IS NULL OR n.traceId = $asked.traceId)
RETURN 'Attribution' AS label, n.id AS id LIMIT $count
