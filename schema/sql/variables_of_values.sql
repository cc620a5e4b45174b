SELECT v.k FROM carray(:keys) AS wanted CROSS JOIN variable AS v ON v.value_k = wanted.value
     CROSS JOIN trace AS t ON t.k = v.trace_k
WHERE t.project = :project AND v.occurrence = 0
