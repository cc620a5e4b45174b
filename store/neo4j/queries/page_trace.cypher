MATCH (t:Trace {projectId: $projectId})
USING INDEX SEEK t:Trace(projectId)
WITH t, coalesce(t.createdAt.epochMillis * 1000 + t.createdAt.microsecond % 1000, 0) AS place
WHERE [place, t.id] > [$place, $last]
WITH t, place ORDER BY place, t.id LIMIT $count
RETURN collect([place, t.id]) AS keys
