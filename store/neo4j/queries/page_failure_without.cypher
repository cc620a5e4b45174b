// Failures without a key, which follow the failures with a key.
MATCH (f:Failure)
USING INDEX SEEK f:Failure(projectId, id)
WHERE f.projectId = $projectId AND f.id {{beyond}} $bounds.last AND NOT f.id IN $wanted.without
  AND {{wanted.failure}}
  AND {{wanted.explained}}
  AND CASE $bounds.by
    WHEN 'time' THEN f.createdAt IS NULL
    ELSE NOT EXISTS {
      (f)<-[:EXPLAINS]-(b)
      WHERE b.{{name}} IS NOT NULL
        AND {{wanted.verdict b}}
    }
  END
WITH f ORDER BY f.projectId {{order}}, f.id {{order}} LIMIT $count
RETURN collect([null, f.id]) AS keys
