// Short names are read out of the index alone. The index has only the beginning of a long name, so long names are read
// from the nodes.
MATCH (a:Attribution)
USING INDEX SEEK a:Attribution(projectId, operationKey, failureId)
WHERE a.projectId = $projectId AND a.operationKey >= '' AND a.failureId IS NOT NULL
WITH DISTINCT a.operationKey AS key
CALL (key) {
  WITH key WHERE size(key) < 200
  RETURN key AS name
  UNION ALL
  WITH key WHERE size(key) >= 200
  MATCH (b:Attribution)
  USING INDEX SEEK b:Attribution(projectId, operationKey, failureId)
  WHERE b.projectId = $projectId AND b.operationKey = key AND b.failureId IS NOT NULL
  RETURN DISTINCT b.operationName AS name
}
RETURN collect(name) AS names
