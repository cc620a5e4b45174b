SELECT NULL, count(*) FROM trace AS t JOIN failure AS x ON x.trace_k = t.k
WHERE t.project = :project AND (:trace IS NULL OR t.id = unhex(:trace))
