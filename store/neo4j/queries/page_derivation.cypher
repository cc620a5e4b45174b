UNWIND $traceIds AS traceId
CALL (traceId) {
  MATCH (t:Variable)-[d:DERIVED_FROM]->(s:Variable)
  USING INDEX SEEK d:DERIVED_FROM(traceId, sequence)
  WHERE d.traceId = traceId AND d.sequence >= $place AND d.projectId = $projectId
    AND [d.sequence, d.id] > [$place, $last]
    AND ($kinds IS NULL OR d.kind IN $kinds)
  WITH d, t, s ORDER BY d.traceId, d.sequence, d.id LIMIT $count
  WITH properties(d) AS d, t, s
  RETURN collect([{{properties}}]) AS rows
}
RETURN collect([traceId, rows]) AS pages
