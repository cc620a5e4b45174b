MATCH (e:AuditEntry)
USING INDEX SEEK e:AuditEntry(projectId, at)
WHERE e.projectId = $projectId AND e.at <= $at AND [e.at, e.id] < [$at, $last]
WITH e ORDER BY e.projectId DESC, e.at DESC, e.id DESC LIMIT $count
RETURN collect(properties(e)) AS rows
