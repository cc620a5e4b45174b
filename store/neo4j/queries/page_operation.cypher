UNWIND $traceIds AS traceId
CALL (traceId) {
  MATCH (o:Operation)
  USING INDEX SEEK o:Operation(traceId, sequence)
  WHERE o.traceId = traceId AND o.sequence >= $place AND o.projectId = $projectId
    AND [o.sequence, o.id] > [$place, $last]
    AND ($kinds IS NULL OR o.kind IN $kinds)
    AND ($statuses IS NULL OR o.status IN $statuses)
  WITH o ORDER BY o.traceId, o.sequence, o.id LIMIT $count
  RETURN collect([o.sequence, o.id]) AS keys
}
RETURN collect([traceId, keys]) AS pages
