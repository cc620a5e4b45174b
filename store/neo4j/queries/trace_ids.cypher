MATCH (t:Trace {projectId: $projectId})
USING INDEX SEEK t:Trace(projectId)
RETURN collect(t.id) AS ids
