SELECT a.k, a.id, a.trace_k, f.id, a.error_type, a.operation_k, a.confidence, a.method, a.model, a.reason, a.evidence,
       a.candidates, a.tokens, a.cost, a.seconds, a.created_at, a.author, a.attributes
FROM carray(:keys) AS wanted CROSS JOIN attribution AS a ON a.k = wanted.value
     CROSS JOIN failure AS f ON f.k = a.failure_k CROSS JOIN trace AS t ON t.k = a.trace_k
WHERE t.project = :project
