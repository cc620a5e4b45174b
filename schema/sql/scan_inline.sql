SELECT value.k, value.text, value.size FROM value JOIN trace AS t ON t.k = value.trace_k
WHERE t.project = :project AND (:trace IS NULL OR t.id = unhex(:trace)) AND value.size <= :whole AND value.k > :last
ORDER BY value.k
LIMIT 1000
