MATCH (s:Session)
WHERE s.traceId = $traceId AND s.sequence >= $place AND s.projectId = $projectId
  AND (s.sequence > $place OR s.id > $last)
WITH s ORDER BY s.sequence, s.id LIMIT $count
RETURN collect([s.sequence, s.id]) AS keys
