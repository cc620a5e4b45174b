SELECT u.variable_k, u.position FROM operation AS o JOIN usage AS u ON u.operation_k = o.k JOIN trace AS t ON t.k = o.trace_k
WHERE o.id = unhex(:id) AND t.project = :project
