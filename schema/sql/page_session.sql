SELECT x.k, x.sequence FROM session AS x
WHERE x.trace_k = (SELECT k FROM trace WHERE id = unhex(:trace) AND project = :project)
  AND (x.sequence, x.k) > (:place, :last)
ORDER BY x.sequence, x.k
LIMIT :count
