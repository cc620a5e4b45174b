MATCH (t:Trace)
USING INDEX SEEK t:Trace(projectId, writtenAt)
WHERE t.projectId = $projectId AND t.writtenAt IS NOT NULL
WITH t ORDER BY t.projectId DESC, t.writtenAt DESC, t.id DESC SKIP $skip LIMIT 1
RETURN collect([t.writtenAt.epochMillis * 1000 + t.writtenAt.microsecond % 1000, t.id]) AS keys
