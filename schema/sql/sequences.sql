SELECT v.k, v.sequence
FROM carray(:keys) AS wanted CROSS JOIN variable AS v ON v.k = wanted.value CROSS JOIN trace AS t ON t.k = v.trace_k
WHERE t.project = :project
