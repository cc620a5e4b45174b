SELECT u.operation_k, u.variable_k, u.position
FROM carray(:keys) AS wanted CROSS JOIN usage AS u ON u.operation_k = wanted.value
