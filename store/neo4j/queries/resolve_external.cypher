MATCH (n:Trace)
USING INDEX SEEK n:Trace(projectId)
WHERE ($label IS NULL OR $label = 'Trace') AND n.externalId = $reference
  AND n.projectId = $projectId AND ($traceId IS NULL OR n.id = $traceId)
RETURN 'Trace' AS label, n.id AS id LIMIT $count
UNION ALL
MATCH (n:Session)
USING INDEX SEEK n:Session(externalKey)
WHERE ($label IS NULL OR $label = 'Session') AND n.externalKey = $key AND n.externalId = $reference
  AND n.projectId = $projectId AND ($traceId IS NULL OR n.traceId = $traceId)
RETURN 'Session' AS label, n.id AS id LIMIT $count
UNION ALL
MATCH (n:Operation)
USING INDEX SEEK n:Operation(externalKey)
WHERE ($label IS NULL OR $label = 'Operation') AND n.externalKey = $key AND n.externalId = $reference
  AND n.projectId = $projectId AND ($traceId IS NULL OR n.traceId = $traceId)
RETURN 'Operation' AS label, n.id AS id LIMIT $count
UNION ALL
MATCH (n:Variable)
USING INDEX SEEK n:Variable(externalKey)
WHERE ($label IS NULL OR $label = 'Variable') AND n.externalKey = $key AND n.externalId = $reference
  AND n.occurrence = 0
  AND n.projectId = $projectId AND ($traceId IS NULL OR n.traceId = $traceId)
RETURN 'Variable' AS label, n.id AS id LIMIT $count
UNION ALL
MATCH (:Variable)-[n:DERIVED_FROM]->(:Variable)
USING INDEX SEEK n:DERIVED_FROM(externalKey)
WHERE ($label IS NULL OR $label = 'Derivation') AND n.externalKey = $key AND n.externalId = $reference
  AND n.projectId = $projectId AND ($traceId IS NULL OR n.traceId = $traceId)
RETURN 'Derivation' AS label, n.id AS id LIMIT $count
