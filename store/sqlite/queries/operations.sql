-- name: used
SELECT u.operation_k, u.variable_k, u.position
FROM carray(:keys) AS wanted CROSS JOIN usage AS u ON u.operation_k = wanted.value

-- name: generated
SELECT v.operation_k, v.k FROM carray(:keys) AS wanted CROSS JOIN variable AS v ON v.operation_k = wanted.value

-- name: invalidated
SELECT i.operation_k, i.variable_k
FROM carray(:keys) AS wanted CROSS JOIN invalidation AS i ON i.operation_k = wanted.value

-- name: usages
SELECT o.id, v.id, u.role, u.position, u.score
FROM trace AS t CROSS JOIN operation AS o ON o.trace_k = t.k CROSS JOIN usage AS u ON u.operation_k = o.k
     CROSS JOIN variable AS v ON v.k = u.variable_k
WHERE t.id = unhex(:trace) AND t.project = :project
ORDER BY o.sequence, o.id, u.position, v.sequence, v.id

-- name: users_of
SELECT wanted.value, o.k
FROM carray(:keys) AS wanted CROSS JOIN operation AS o ON o.k IN (
    SELECT x.k FROM usage AS u CROSS JOIN operation AS x ON x.k = u.operation_k
    WHERE u.variable_k = wanted.value GROUP BY x.k ORDER BY x.sequence, x.id LIMIT :count
)
ORDER BY o.sequence, o.id

-- name: invalidations
SELECT v.id, o.id
FROM trace AS t CROSS JOIN operation AS o ON o.trace_k = t.k CROSS JOIN invalidation AS i ON i.operation_k = o.k
     CROSS JOIN variable AS v ON v.k = i.variable_k
WHERE t.id = unhex(:trace) AND t.project = :project
ORDER BY o.sequence, o.id, v.sequence, v.id

-- name: end
UPDATE operation SET status = ?, ended_at = ?, attributes_k = coalesce(?, attributes_k)
WHERE k = ? AND trace_k = ? AND status = 'running'

-- name: activity
SELECT x.sequence / :width, x.kind, x.status, count(*), coalesce(sum(x.ended_at - x.started_at), 0),
  max(coalesce(x.ended_at, x.started_at))
FROM operation AS x
WHERE x.trace_k = (SELECT k FROM trace WHERE id = unhex(:trace) AND project = :project)
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3
