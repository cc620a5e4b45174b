-- name: of_failures
SELECT a.k FROM json_each(:ids) AS wanted CROSS JOIN failure AS f ON f.id = unhex(wanted.value)
     CROSS JOIN trace AS t ON t.k = f.trace_k CROSS JOIN attribution AS a ON a.failure_k = f.k
WHERE t.project = :project

-- name: delete
DELETE FROM attribution
WHERE k IN (SELECT value FROM carray(:keys)) AND trace_k IN (SELECT k FROM trace WHERE project = :project)

-- name: delete_from_trace
DELETE FROM attribution WHERE id = ? AND trace_k = ?

-- name: delete_of_failure
DELETE FROM attribution WHERE failure_k = :failure AND trace_k IN (SELECT k FROM trace WHERE project = :project)
