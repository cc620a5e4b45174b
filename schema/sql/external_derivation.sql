SELECT x.k FROM derivation AS x CROSS JOIN trace AS t ON t.k = x.trace_k
WHERE x.external_id = :reference AND t.project = :project AND (:trace IS NULL OR t.id = unhex(:trace))
LIMIT 6
