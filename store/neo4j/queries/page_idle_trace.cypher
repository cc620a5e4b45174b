MATCH (t:Trace)
USING INDEX SEEK t:Trace(projectId, writtenAt)
WHERE t.projectId = $projectId AND $at <= t.writtenAt <= $until
  AND [t.writtenAt, t.id] > [$at, $last] AND [t.writtenAt, t.id] < [$until, $untilId]
WITH t ORDER BY t.projectId, t.writtenAt, t.id LIMIT $count
RETURN collect([t.writtenAt.epochMillis * 1000 + t.writtenAt.microsecond % 1000, t.id]) AS keys
