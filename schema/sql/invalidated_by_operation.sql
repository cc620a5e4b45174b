SELECT i.variable_k FROM operation AS o JOIN invalidation AS i ON i.operation_k = o.k JOIN trace AS t ON t.k = o.trace_k
WHERE o.id = unhex(:id) AND t.project = :project
