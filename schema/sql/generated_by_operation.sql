SELECT v.k FROM operation AS o JOIN variable AS v ON v.operation_k = o.k JOIN trace AS t ON t.k = o.trace_k
WHERE o.id = unhex(:id) AND t.project = :project
