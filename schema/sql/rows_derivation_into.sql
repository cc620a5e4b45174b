SELECT d.k, d.id, d.trace_k, d.source_k, d.target_k, d.operation_k, d.external_id, d.kind, d.category_k, d.comment_k,
       d.sequence, d.created_at, d.location_k, d.attributes_k
FROM carray(:keys) AS wanted CROSS JOIN derivation AS d ON d.target_k = wanted.value
     CROSS JOIN trace AS t ON t.k = d.trace_k
WHERE t.project = :project
