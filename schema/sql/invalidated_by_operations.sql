SELECT i.operation_k, i.variable_k
FROM carray(:keys) AS wanted CROSS JOIN invalidation AS i ON i.operation_k = wanted.value
