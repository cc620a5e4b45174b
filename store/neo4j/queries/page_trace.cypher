MATCH (t:Trace {projectId: $projectId})
USING INDEX SEEK t:Trace(projectId)
WITH t, coalesce(t.createdAt.epochSeconds * 1000000 + t.createdAt.microsecond, 0) AS place
WHERE [place, t.id] > [$place, $last]
WITH t, place ORDER BY place, t.id LIMIT $count
RETURN collect([place, t.id]) AS keys
