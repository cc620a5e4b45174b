MATCH (q:AnnotationQueue {id: $id})
USING INDEX SEEK q:AnnotationQueue(id)
WHERE q.projectId = $projectId
RETURN collect(properties(q)) AS rows
