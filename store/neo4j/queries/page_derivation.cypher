UNWIND $traceIds AS traceId
CALL (traceId) {
  MATCH (:Variable)-[d:DERIVED_FROM]->(:Variable)
  USING INDEX SEEK d:DERIVED_FROM(traceId, sequence)
  WHERE d.traceId = traceId AND d.sequence >= $place AND d.projectId = $projectId
    AND [d.sequence, d.id] > [$place, $last]
    AND ($kinds IS NULL OR d.kind IN $kinds)
  WITH d ORDER BY d.traceId, d.sequence, d.id LIMIT $count
  RETURN collect([d.sequence, d.id]) AS keys
}
RETURN collect([traceId, keys]) AS pages
