SELECT x.k FROM session AS x CROSS JOIN trace AS t ON t.k = x.trace_k
WHERE x.id >= unhex(:low) AND x.id <= unhex(:high) AND t.project = :project
  AND (:trace IS NULL OR t.id = unhex(:trace))
LIMIT 6
