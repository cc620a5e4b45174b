MATCH (p:RetentionPolicy {projectId: $projectId})
USING INDEX SEEK p:RetentionPolicy(projectId)
RETURN collect(properties(p)) AS rows
