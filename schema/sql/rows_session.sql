SELECT s.k, s.id, s.trace_k, s.external_k, s.name_k, s.category_k, s.comment_k, s.sequence, s.created_at, s.attributes_k
FROM carray(:keys) AS wanted CROSS JOIN session AS s ON s.k = wanted.value CROSS JOIN trace AS t ON t.k = s.trace_k
WHERE t.project = :project
