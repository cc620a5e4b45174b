UNWIND $traceIds AS traceId
CALL (traceId) {
  MATCH (f:Failure)
  USING INDEX SEEK f:Failure(traceId)
  WHERE f.traceId = traceId AND f.projectId = $projectId AND [f.traceId, f.id] > [$place, $last]
  WITH f ORDER BY f.id LIMIT $count
  RETURN collect([f.traceId, f.id]) AS keys
}
RETURN collect([traceId, keys]) AS pages
