// Failures without a time, which follow the failures with a time.
MATCH (f:Failure)
USING INDEX SEEK f:Failure(projectId, id)
WHERE f.projectId = $projectId AND f.id {{beyond}} $bounds.last AND NOT f.id IN $wanted.without
  AND f.createdAt IS NULL
  AND {{wanted.failure}}
  AND {{wanted.explained}}
WITH f ORDER BY f.projectId {{order}}, f.id {{order}} LIMIT $count
RETURN collect([null, f.id]) AS keys
