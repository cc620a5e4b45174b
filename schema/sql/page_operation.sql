SELECT x.k, x.sequence FROM operation AS x
WHERE x.trace_k = (SELECT k FROM trace WHERE id = unhex(:trace) AND project = :project)
  AND (x.sequence, x.k) > (:place, :last)
  AND (:kinds IS NULL OR x.kind IN (SELECT value FROM json_each(:kinds)))
  AND (:statuses IS NULL OR x.status IN (SELECT value FROM json_each(:statuses)))
ORDER BY x.sequence, x.k
LIMIT :count
