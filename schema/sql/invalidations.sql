SELECT v.id, o.id
FROM trace AS t CROSS JOIN operation AS o ON o.trace_k = t.k CROSS JOIN invalidation AS i ON i.operation_k = o.k
     CROSS JOIN variable AS v ON v.k = i.variable_k
WHERE t.id = unhex(:trace) AND t.project = :project
ORDER BY o.sequence, o.id, v.sequence, v.id
