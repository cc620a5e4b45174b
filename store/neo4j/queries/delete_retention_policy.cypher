MATCH (p:RetentionPolicy {projectId: $projectId})
USING INDEX SEEK p:RetentionPolicy(projectId)
WITH p, p.projectId AS id
DELETE p
RETURN collect(id) AS rows
