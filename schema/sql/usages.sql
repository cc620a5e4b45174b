SELECT o.id, v.id, u.role, u.position, u.score
FROM trace AS t CROSS JOIN operation AS o ON o.trace_k = t.k CROSS JOIN usage AS u ON u.operation_k = o.k
     CROSS JOIN variable AS v ON v.k = u.variable_k
WHERE t.id = unhex(:trace) AND t.project = :project
ORDER BY o.sequence, o.id, u.position, v.sequence, v.id
