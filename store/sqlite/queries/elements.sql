-- name: keys
SELECT x.k, x.id FROM json_each(:ids) AS wanted CROSS JOIN {{table}} AS x ON x.id = unhex(wanted.value)
     CROSS JOIN trace AS t ON t.k = x.trace_k
WHERE t.project = :project

-- name: stored
SELECT x.k, x.id FROM json_each(:ids) AS wanted CROSS JOIN {{table}} AS x ON x.id = unhex(wanted.value)
WHERE x.trace_k = :trace_k

-- name: ids
SELECT x.k, x.id FROM carray(:keys) AS wanted CROSS JOIN {{table}} AS x ON x.k = wanted.value

-- name: rows
SELECT {{read}}
FROM carray(:keys) AS wanted CROSS JOIN {{table}} AS x ON x.k = wanted.value CROSS JOIN trace AS t ON t.k = x.trace_k
WHERE t.project = :project

-- name: rows_with_value
SELECT {{read}}
FROM carray(:keys) AS wanted CROSS JOIN {{table}} AS x ON x.k = wanted.value CROSS JOIN trace AS t ON t.k = x.trace_k
     CROSS JOIN value ON value.k = x.value_k
WHERE t.project = :project

-- name: rows_by_target
SELECT {{read}}
FROM carray(:keys) AS wanted CROSS JOIN {{table}} AS x ON x.target_k = wanted.value
     CROSS JOIN trace AS t ON t.k = x.trace_k
WHERE t.project = :project

-- name: external
SELECT x.k FROM text CROSS JOIN {{table}} AS x ON x.external_k = text.k CROSS JOIN trace AS t ON t.k = x.trace_k
WHERE text.hash = :hash AND text.text = :reference AND t.project = :project
  AND (:trace IS NULL OR t.id = unhex(:trace))
LIMIT 6

-- name: external_variable
SELECT x.k FROM text CROSS JOIN variable AS x ON x.external_k = text.k CROSS JOIN trace AS t ON t.k = x.trace_k
WHERE text.hash = :hash AND text.text = :reference AND x.occurrence = 0 AND t.project = :project
  AND (:trace IS NULL OR t.id = unhex(:trace))
LIMIT 6

-- name: external_derivation
SELECT x.k FROM derivation AS x CROSS JOIN trace AS t ON t.k = x.trace_k
WHERE x.external_id = :reference AND t.project = :project AND (:trace IS NULL OR t.id = unhex(:trace))
LIMIT 6

-- name: prefix
SELECT x.k FROM {{table}} AS x CROSS JOIN trace AS t ON t.k = x.trace_k
WHERE x.id >= unhex(:low) AND x.id <= unhex(:high) AND t.project = :project
  AND (:trace IS NULL OR t.id = unhex(:trace))
LIMIT 6

-- name: page
SELECT x.k, x.sequence FROM {{table}} AS x
WHERE x.trace_k = (SELECT k FROM trace WHERE id = unhex(:trace) AND project = :project)
  AND (x.sequence, x.k) > (:place, :last)
  AND (:kinds IS NULL OR x.kind IN (SELECT value FROM json_each(:kinds)))
ORDER BY x.sequence, x.k
LIMIT :count

-- name: page_variables
SELECT x.k, x.sequence FROM variable AS x
WHERE x.trace_k = (SELECT k FROM trace WHERE id = unhex(:trace) AND project = :project)
  AND (x.sequence, x.k) > (:place, :last)
  AND (:kinds IS NULL OR x.kind IN (SELECT value FROM json_each(:kinds)))
  AND (:begin IS NULL OR x.created_at >= :begin) AND (:end IS NULL OR x.created_at < :end)
ORDER BY x.sequence, x.k
LIMIT :count

-- name: page_sessions
SELECT x.k, x.sequence FROM session AS x
WHERE x.trace_k = (SELECT k FROM trace WHERE id = unhex(:trace) AND project = :project)
  AND (x.sequence, x.k) > (:place, :last)
ORDER BY x.sequence, x.k
LIMIT :count

-- name: page_operations
SELECT x.k, x.sequence FROM operation AS x
WHERE x.trace_k = (SELECT k FROM trace WHERE id = unhex(:trace) AND project = :project)
  AND (x.sequence, x.k) > (:place, :last)
  AND (:kinds IS NULL OR x.kind IN (SELECT value FROM json_each(:kinds)))
  AND (:statuses IS NULL OR x.status IN (SELECT value FROM json_each(:statuses)))
  AND (:begin IS NULL OR x.started_at >= :begin) AND (:end IS NULL OR x.started_at < :end)
ORDER BY x.sequence, x.k
LIMIT :count
