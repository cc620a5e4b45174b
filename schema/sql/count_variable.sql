SELECT x.kind, count(*) FROM trace AS t JOIN variable AS x ON x.trace_k = t.k
WHERE t.project = :project AND (:trace IS NULL OR t.id = unhex(:trace))
GROUP BY x.kind
ORDER BY x.kind
