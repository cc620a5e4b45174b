// A page of the failures of one trace; all failures of the trace are read.
MATCH (f:Failure)
USING INDEX SEEK f:Failure(projectId, traceId)
WHERE f.projectId = $projectId AND f.traceId = $bounds.traceId AND NOT f.id IN $wanted.without
  AND {{wanted.failure}}
OPTIONAL MATCH (f)<-[:EXPLAINS]-(a)
WHERE ($wanted.asksVerdicts OR $bounds.by <> 'time')
  AND {{wanted.verdict a}}
WITH f, a, CASE $bounds.by
    WHEN 'time' THEN f.createdAt.epochMillis * 1000 + f.createdAt.microsecond % 1000
    WHEN 'confidence' THEN a.confidence
    WHEN 'errorType' THEN a.errorType
    ELSE $bounds.places[a.operationName]
  END AS said
WITH f.id AS id, count(a) AS verdicts, {{first}}(said) AS key
WHERE NOT $wanted.asksVerdicts OR verdicts > 0
WITH id, key
WHERE $bounds.last IS NULL
  OR CASE WHEN $bounds.key IS NULL THEN key IS NULL AND id {{beyond}} $bounds.last
    ELSE key IS NULL OR (key = $bounds.key AND id {{beyond}} $bounds.last) OR key {{beyond}} $bounds.key
  END
WITH key, id
ORDER BY key IS NULL, key {{order}}, id {{order}}
LIMIT $count
RETURN collect([key, id]) AS keys
