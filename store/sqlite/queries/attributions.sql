-- name: of_failures
SELECT a.k FROM json_each(:ids) AS wanted CROSS JOIN failure AS f ON f.id = unhex(wanted.value)
     CROSS JOIN trace AS t ON t.k = f.trace_k CROSS JOIN attribution AS a ON a.failure_k = f.k
WHERE t.project = :project

-- name: groups
SELECT a.method, a.error_type, coalesce(n.text, c.text, o.kind), count(DISTINCT a.failure_k)
FROM trace AS t JOIN attribution AS a ON a.trace_k = t.k LEFT JOIN operation AS o ON o.k = a.operation_k
     LEFT JOIN text AS n ON n.k = o.name_k LEFT JOIN text AS c ON c.k = o.category_k
WHERE t.project = :project AND (:trace IS NULL OR t.id = unhex(:trace)) AND {{wanted.newest}}
GROUP BY 1, 2, 3

-- name: delete
DELETE FROM attribution
WHERE k IN (SELECT value FROM carray(:keys)) AND trace_k IN (SELECT k FROM trace WHERE project = :project)

-- name: delete_from_trace
DELETE FROM attribution WHERE id = ? AND trace_k = ?

-- name: delete_of_failure
DELETE FROM attribution WHERE failure_k = :failure AND trace_k IN (SELECT k FROM trace WHERE project = :project)
