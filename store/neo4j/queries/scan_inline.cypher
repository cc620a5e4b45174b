MATCH (v:Variable)
USING INDEX SEEK v:Variable(traceId, sequence)
WHERE v.traceId = $traceId AND v.sequence >= $place AND v.projectId = $projectId
  AND [v.sequence, v.id] > [$place, $last] AND v.occurrence = 0 AND v.value IS NOT NULL
WITH v ORDER BY v.sequence, v.id LIMIT $count
RETURN collect([v.sequence, v.id, v.valueHash, v.value]) AS rows
