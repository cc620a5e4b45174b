SELECT pack.k, pack.raw_size FROM pack JOIN trace AS t ON t.k = pack.trace_k
WHERE t.project = :project AND (:trace IS NULL OR t.id = unhex(:trace))
ORDER BY pack.k
