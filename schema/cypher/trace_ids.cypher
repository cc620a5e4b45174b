MATCH (t:Trace {projectId: $projectId})
RETURN collect(t.id) AS ids
