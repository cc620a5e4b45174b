CALL db.index.fulltext.queryNodes('variable_words', $query) YIELD node AS v
WHERE v.projectId = $projectId AND ($traceId IS NULL OR v.traceId = $traceId)
  AND v.name = $name AND ($version IS NULL OR v.version = $version)
RETURN v.id AS id
ORDER BY v.traceId, v.sequence
LIMIT $count
