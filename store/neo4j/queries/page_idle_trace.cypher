MATCH (t:Trace)
USING INDEX SEEK t:Trace(projectId, writtenAt)
WHERE t.projectId = $projectId AND $at <= t.writtenAt <= $until
  AND [t.writtenAt, t.id] > [$at, $last] AND [t.writtenAt, t.id] < [$until, $untilId]
WITH t ORDER BY t.projectId, t.writtenAt, t.id LIMIT $count
RETURN collect([t.writtenAt.epochSeconds * 1000000 + t.writtenAt.microsecond, t.id]) AS keys
