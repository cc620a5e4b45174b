SELECT v.k, v.id, v.trace_k, v.session_k, v.operation_k, v.revision_k, v.external_k, v.name_k, v.class_k, v.version,
       v.occurrence, v.kind, v.category_k, v.comment_k, v.sequence, v.created_at, v.location_k, v.attributes_k,
       value.hash, value.size, value.media_type, value.text
FROM carray(:keys) AS wanted CROSS JOIN variable AS v ON v.k = wanted.value CROSS JOIN trace AS t ON t.k = v.trace_k
     CROSS JOIN value ON value.k = v.value_k
WHERE t.project = :project
