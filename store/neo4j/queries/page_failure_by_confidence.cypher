// A failure with several verdicts that fit the filter stands at the first of their places.
MATCH (a:Attribution)
USING INDEX SEEK a:Attribution(projectId, confidence, failureId)
WHERE a.projectId = $projectId AND a.confidence {{reaches}} $bounds.place AND a.failureId IS NOT NULL
  AND ($bounds.last IS NULL OR a.confidence <> $bounds.place OR a.failureId {{beyond}} $bounds.last)
  AND NOT a.failureId IN $wanted.without
  AND {{wanted.verdict a}}
MATCH (a)-[:EXPLAINS]->(f)
WHERE {{wanted.failure}}
  AND NOT EXISTS {
    (f)<-[:EXPLAINS]-(b)
    WHERE (b.confidence {{before}} a.confidence OR (b.confidence = a.confidence AND b.id < a.id))
      AND {{wanted.verdict b}}
  }
WITH a ORDER BY a.projectId {{order}}, a.confidence {{order}}, a.failureId {{order}} LIMIT $count
RETURN collect([a.confidence, a.failureId]) AS keys
