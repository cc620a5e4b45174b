-- name: closure
-- All variables that the walk reaches. UNION, not UNION ALL: a variable on two paths is visited once.
WITH RECURSIVE reached (k) AS (
    SELECT value FROM carray(:roots)
    UNION
    SELECT d.{{there}} FROM reached CROSS JOIN derivation AS d ON d.{{here}} = reached.k
)
SELECT k FROM reached

-- name: step
SELECT d.{{here}}, d.{{there}}, v.sequence
FROM carray(:keys) AS wanted CROSS JOIN derivation AS d ON d.{{here}} = wanted.value
     CROSS JOIN variable AS v ON v.k = d.{{there}}

-- name: derivations_of
SELECT wanted.value, d.k
FROM carray(:keys) AS wanted CROSS JOIN derivation AS d ON d.k IN (
    SELECT x.k FROM derivation AS x WHERE x.{{here}} = wanted.value ORDER BY x.sequence, x.k LIMIT :count
)
ORDER BY d.sequence, d.k

-- name: edges
SELECT s.id, r.id, o.id, d.kind
FROM trace AS t CROSS JOIN derivation AS d ON d.trace_k = t.k CROSS JOIN variable AS s ON s.k = d.source_k
     CROSS JOIN variable AS r ON r.k = d.target_k CROSS JOIN operation AS o ON o.k = d.operation_k
WHERE t.id = unhex(:trace) AND t.project = :project
ORDER BY d.sequence, d.k

-- name: derivations_into
SELECT d.k, d.source_k, d.target_k
FROM carray(:keys) AS here CROSS JOIN derivation AS d ON d.target_k = here.value

-- name: sequences
SELECT v.k, v.sequence
FROM carray(:keys) AS wanted CROSS JOIN variable AS v ON v.k = wanted.value CROSS JOIN trace AS t ON t.k = v.trace_k
WHERE t.project = :project
