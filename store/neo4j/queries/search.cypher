CALL db.index.fulltext.queryNodes('variable_words', $query, {limit: $limit}) YIELD node, score
WHERE node.projectId = $projectId
RETURN node.id AS id, score, node.terms AS terms
ORDER BY score DESC, node.sequence
