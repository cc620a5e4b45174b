UNWIND $rows AS row
MERGE (p:RetentionPolicy {projectId: $projectId})
SET p = row
RETURN collect(p.projectId) AS rows
