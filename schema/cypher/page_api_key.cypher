MATCH (k:ApiKey)
USING INDEX SEEK k:ApiKey(projectId, createdAt)
WHERE k.projectId = $projectId AND k.createdAt <= $at AND (k.createdAt < $at OR k.id < $last)
WITH k ORDER BY k.createdAt DESC, k.id DESC LIMIT $count
RETURN collect(properties(k)) AS rows
