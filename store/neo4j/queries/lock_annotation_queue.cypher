// Setting a property locks the queue, so that concurrent assignments run one after the other.
MATCH (q:AnnotationQueue {id: $id})
USING INDEX SEEK q:AnnotationQueue(id)
WHERE q.projectId = $projectId
SET q.projectId = $projectId
RETURN count(q) AS count
