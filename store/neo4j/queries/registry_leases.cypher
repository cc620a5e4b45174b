MATCH (j:Job {state: 'running'})
USING INDEX SEEK j:Job(state, createdAt)
WHERE j.createdAt IS NOT NULL AND ($projects IS NULL OR j.projectId IN $projects)
RETURN collect([j.id, j.owner, j.leaseUntil]) AS rows
