MATCH (q:AnnotationQueue {id: $id})
USING INDEX SEEK q:AnnotationQueue(id)
WHERE q.projectId = $projectId
SET q.closedBy = coalesce(q.closedBy, $by),
  q.closedAt = coalesce(q.closedAt, datetime.truncate('microsecond', datetime.realtime('Z')))
RETURN collect(properties(q)) AS rows
