UNWIND $traceIds AS traceId
CALL (traceId) {
  MATCH (v:Variable)
  USING INDEX SEEK v:Variable(traceId, sequence)
  WHERE v.traceId = traceId AND v.sequence >= $place AND v.projectId = $projectId
    AND [v.sequence, v.id] > [$place, $last]
    AND ($kinds IS NULL OR v.kind IN $kinds)
  WITH v ORDER BY v.traceId, v.sequence, v.id LIMIT $count
  RETURN collect([v.sequence, v.id]) AS keys
}
RETURN collect([traceId, keys]) AS pages
