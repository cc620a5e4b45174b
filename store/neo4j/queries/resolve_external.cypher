MATCH (n:Trace)
USING INDEX SEEK n:Trace(projectId)
WHERE ($asked.label IS NULL OR $asked.label = 'Trace') AND n.externalId = $asked.reference
  AND n.projectId = $projectId AND ($asked.traceId IS NULL OR n.id = $asked.traceId)
RETURN 'Trace' AS label, n.id AS id LIMIT $count
UNION ALL
MATCH (n:Session)
USING INDEX SEEK n:Session(externalKey)
WHERE ($asked.label IS NULL OR $asked.label = 'Session') AND n.externalKey = $asked.key AND n.externalId = $asked.reference
  AND n.projectId = $projectId AND ($asked.traceId IS NULL OR n.traceId = $asked.traceId)
RETURN 'Session' AS label, n.id AS id LIMIT $count
UNION ALL
MATCH (n:Operation)
USING INDEX SEEK n:Operation(externalKey)
WHERE ($asked.label IS NULL OR $asked.label = 'Operation') AND n.externalKey = $asked.key AND n.externalId = $asked.reference
  AND n.projectId = $projectId AND ($asked.traceId IS NULL OR n.traceId = $asked.traceId)
RETURN 'Operation' AS label, n.id AS id LIMIT $count
UNION ALL
MATCH (n:Variable)
USING INDEX SEEK n:Variable(externalKey)
WHERE ($asked.label IS NULL OR $asked.label = 'Variable') AND n.externalKey = $asked.key AND n.externalId = $asked.reference
  AND n.occurrence = 0
  AND n.projectId = $projectId AND ($asked.traceId IS NULL OR n.traceId = $asked.traceId)
RETURN 'Variable' AS label, n.id AS id LIMIT $count
UNION ALL
MATCH (:Variable)-[n:DERIVED_FROM]->(:Variable)
USING INDEX SEEK n:DERIVED_FROM(externalKey)
WHERE ($asked.label IS NULL OR $asked.label = 'Derivation') AND n.externalKey = $asked.key AND n.externalId = $asked.reference
  AND n.projectId = $projectId AND ($asked.traceId IS NULL OR n.traceId = $asked.traceId)
RETURN 'Derivation' AS label, n.id AS id LIMIT $count
