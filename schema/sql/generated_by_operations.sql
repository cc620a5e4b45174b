SELECT v.operation_k, v.k FROM carray(:keys) AS wanted CROSS JOIN variable AS v ON v.operation_k = wanted.value
