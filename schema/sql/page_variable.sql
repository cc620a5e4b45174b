SELECT x.k, x.sequence FROM variable AS x
WHERE x.trace_k = (SELECT k FROM trace WHERE id = unhex(:trace) AND project = :project)
  AND (x.sequence, x.k) > (:place, :last)
  AND (:kinds IS NULL OR x.kind IN (SELECT value FROM json_each(:kinds)))
ORDER BY x.sequence, x.k
LIMIT :count
