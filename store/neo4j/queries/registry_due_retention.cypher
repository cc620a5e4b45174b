MATCH (p:RetentionPolicy)
USING INDEX SEEK p:RetentionPolicy(dueAt)
WHERE p.dueAt <= $now AND ($projects IS NULL OR p.projectId IN $projects)
WITH p ORDER BY p.dueAt, p.projectId LIMIT $count
RETURN collect(p.projectId) AS ids
