MATCH (j:Job)
USING INDEX SEEK j:Job(projectId, createdAt)
WHERE j.projectId = $projectId AND j.createdAt <= $at AND [j.createdAt, j.id] < [$at, $last]
  AND ($kind IS NULL OR j.kind = $kind) AND ($state IS NULL OR j.state = $state)
WITH j ORDER BY j.projectId DESC, j.createdAt DESC, j.id DESC LIMIT $count
RETURN collect(properties(j)) AS rows
