SELECT x.k FROM text CROSS JOIN operation AS x ON x.external_k = text.k CROSS JOIN trace AS t ON t.k = x.trace_k
WHERE text.hash = :hash AND text.text = :reference AND t.project = :project
  AND (:trace IS NULL OR t.id = unhex(:trace))
LIMIT 6
