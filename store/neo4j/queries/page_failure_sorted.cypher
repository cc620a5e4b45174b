// Of one trace, which is read whole.
MATCH (f:Failure)
USING INDEX SEEK f:Failure(projectId, traceId)
WHERE f.projectId = $projectId AND f.traceId = $traceId AND NOT f.id IN $without
  AND {{wanted.failure}}
OPTIONAL MATCH (f)<-[:EXPLAINS]-(a)
WHERE ($asksVerdicts OR $by <> 'time')
  AND {{wanted.verdict a}}
WITH f, a, CASE $by
    WHEN 'time' THEN f.createdAt.epochSeconds * 1000000 + f.createdAt.microsecond
    WHEN 'confidence' THEN a.confidence
    WHEN 'errorType' THEN a.errorType
    ELSE $places[a.operationName]
  END AS said
WITH f.id AS id, count(a) AS verdicts, {{first}}(said) AS key
WHERE NOT $asksVerdicts OR verdicts > 0
WITH id, key
WHERE $last IS NULL
  OR CASE WHEN $key IS NULL THEN key IS NULL AND id {{beyond}} $last
    ELSE key IS NULL OR (key = $key AND id {{beyond}} $last) OR key {{beyond}} $key
  END
WITH key, id
ORDER BY key IS NULL, key {{order}}, id {{order}}
LIMIT $count
RETURN collect([key, id]) AS keys
