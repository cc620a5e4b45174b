MATCH (k:ApiKey)
USING INDEX SEEK k:ApiKey(projectId, createdAt)
WHERE k.projectId = $projectId AND k.createdAt <= $at AND [k.createdAt, k.id] < [$at, $last]
WITH k ORDER BY k.projectId DESC, k.createdAt DESC, k.id DESC LIMIT $count
RETURN collect(properties(k)) AS rows
