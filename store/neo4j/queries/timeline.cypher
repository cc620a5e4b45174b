MATCH (n:Trace)
USING INDEX SEEK n:Trace(projectId, createdAt)
WHERE n.projectId = $projectId AND n.createdAt >= $since AND n.createdAt < $until
WITH (n.createdAt.epochMillis * 1000 + n.createdAt.microsecond % 1000 - $start) / $width AS number, count(n) AS count
RETURN collect(['Trace', '', number, count]) AS rows
UNION ALL
MATCH (n:Failure)
USING INDEX SEEK n:Failure(projectId, createdAt)
WHERE n.projectId = $projectId AND n.createdAt >= $since AND n.createdAt < $until
WITH (n.createdAt.epochMillis * 1000 + n.createdAt.microsecond % 1000 - $start) / $width AS number, count(n) AS count
RETURN collect(['Failure', '', number, count]) AS rows
UNION ALL
MATCH (n:Attribution)
USING INDEX SEEK n:Attribution(projectId, createdAt)
WHERE n.projectId = $projectId AND n.createdAt >= $since AND n.createdAt < $until
WITH coalesce(n.errorType, '') AS errorType,
  (n.createdAt.epochMillis * 1000 + n.createdAt.microsecond % 1000 - $start) / $width AS number, count(n) AS count
RETURN collect(['Attribution', errorType, number, count]) AS rows
