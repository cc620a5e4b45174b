MATCH (f:Failure)
USING INDEX SEEK f:Failure(projectId, createdAt, id)
WHERE f.projectId = $projectId AND f.createdAt {{reaches}} $bounds.place AND f.id IS NOT NULL
  AND ($bounds.last IS NULL OR f.createdAt <> $bounds.place OR f.id {{beyond}} $bounds.last)
  AND NOT f.id IN $wanted.without
  AND {{wanted.failure}}
  AND {{wanted.explained}}
WITH f ORDER BY f.projectId {{order}}, f.createdAt {{order}}, f.id {{order}} LIMIT $count
RETURN collect([f.createdAt.epochMillis * 1000 + f.createdAt.microsecond % 1000, f.id]) AS keys
