UNWIND $traceIds AS traceId
CALL (traceId) {
  MATCH (n:Variable)
  USING INDEX SEEK n:Variable(traceId, sequence)
  WHERE n.traceId = traceId AND n.sequence >= $place AND n.projectId = $projectId
    AND [n.sequence, n.id] > [$place, $last]
    AND ($kinds IS NULL OR n.kind IN $kinds)
    AND ($begin IS NULL OR n.createdAt >= $begin) AND ($end IS NULL OR n.createdAt < $end)
  WITH n ORDER BY n.traceId, n.sequence, n.id LIMIT $count
  WITH properties(n) AS n
  RETURN collect([{{properties}}]) AS rows
}
RETURN collect([traceId, rows]) AS pages
