MATCH (q:AnnotationQueue)
USING INDEX SEEK q:AnnotationQueue(projectId, createdAt)
WHERE q.projectId = $projectId AND q.createdAt <= $at AND [q.createdAt, q.id] < [$at, $last]
WITH q ORDER BY q.projectId DESC, q.createdAt DESC, q.id DESC LIMIT $count
RETURN collect(properties(q)) AS rows
