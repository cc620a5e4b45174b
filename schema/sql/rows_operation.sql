SELECT o.k, o.id, o.trace_k, o.session_k, o.external_k, o.name_k, o.kind, o.category_k, o.comment_k, o.status,
       o.sequence, o.started_at, o.ended_at, o.location_k, o.attributes_k
FROM carray(:keys) AS wanted CROSS JOIN operation AS o ON o.k = wanted.value CROSS JOIN trace AS t ON t.k = o.trace_k
WHERE t.project = :project
