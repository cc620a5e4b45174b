SELECT v.k, -bm25(variable_words) AS score
FROM variable_words JOIN variable AS v ON v.k = variable_words.rowid JOIN trace AS t ON t.k = v.trace_k
WHERE variable_words MATCH :query AND t.project = :project AND (:trace IS NULL OR t.id = unhex(:trace))
ORDER BY score DESC, v.k
LIMIT :count
