UNWIND $ids AS id
MATCH (one:Variable {id: id})
USING INDEX SEEK one:Variable(id)
WHERE one.projectId = $projectId
CALL (one) {
  MATCH (v:Variable {nameKey: one.nameKey})
  USING INDEX SEEK v:Variable(nameKey)
  WHERE v.projectId = $projectId AND v.traceId = one.traceId AND v.name = one.name AND v.occurrence = 0
    AND (v.className = one.className OR (v.className IS NULL AND one.className IS NULL))
  WITH v ORDER BY v.version, v.sequence
  RETURN collect(v.id) AS ids
}
RETURN collect([one.id, ids]) AS rows
