CALL db.index.fulltext.queryNodes('variable_words', $query, {limit: $hits}) YIELD node, score
WHERE node.projectId = $projectId
  AND ($kinds IS NULL OR node.kind IN $kinds)
  AND ($begin IS NULL OR node.createdAt >= $begin) AND ($end IS NULL OR node.createdAt < $end)
RETURN node.id AS id, score, node.terms AS terms
ORDER BY score DESC, node.sequence
LIMIT $count
