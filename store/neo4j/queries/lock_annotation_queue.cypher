// It is set first: that locks it, so that of several who ask at once each sees what those before it have got.
MATCH (q:AnnotationQueue {id: $id})
USING INDEX SEEK q:AnnotationQueue(id)
WHERE q.projectId = $projectId
SET q.projectId = $projectId
RETURN count(q) AS count
