MATCH (q:AnnotationQueue)
USING INDEX SEEK q:AnnotationQueue(projectId, createdAt)
WHERE q.projectId = $projectId AND q.createdAt IS NOT NULL AND q.closedAt IS NULL
  AND (q.id IN $ids OR $person IN q.people)
RETURN collect(properties(q)) AS rows
