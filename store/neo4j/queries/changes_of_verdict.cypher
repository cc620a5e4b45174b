// Each is set first: that locks it, so that of two that take back a change the later one sees what the first has done.
MATCH (c:VerdictChange {attributionId: $id})
USING INDEX SEEK c:VerdictChange(attributionId)
WHERE c.projectId = $projectId
SET c.askedBy = $by
RETURN collect(properties(c)) AS rows
