UNWIND $traceIds AS traceId
CALL (traceId) {
  MATCH (s:Session)
  USING INDEX SEEK s:Session(traceId, sequence)
  WHERE s.traceId = traceId AND s.sequence >= $place AND s.projectId = $projectId
    AND [s.sequence, s.id] > [$place, $last]
  WITH s ORDER BY s.traceId, s.sequence, s.id LIMIT $count
  RETURN collect([s.sequence, s.id]) AS keys
}
RETURN collect([traceId, keys]) AS pages
