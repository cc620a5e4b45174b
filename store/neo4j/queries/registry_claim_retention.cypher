MATCH (p:RetentionPolicy {projectId: $id})
USING INDEX SEEK p:RetentionPolicy(projectId)
SET p.askedAt = $now
WITH p
WHERE p.dueAt <= $now
SET p.dueAt = $againAt
RETURN collect(properties(p)) AS rows
