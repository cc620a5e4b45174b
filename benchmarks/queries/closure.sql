-- The causal past of a variable, whole: its variables and the derivations into them, with all texts and values.
WITH RECURSIVE past (k) AS (
    SELECT k FROM variable WHERE id = unhex(:id)
    UNION
    SELECT d.source_k FROM past CROSS JOIN derivation AS d ON d.target_k = past.k
)
SELECT 'variable', v.id, t.project, t.id, session.id, external.text, name.text, class.text, v.version, v.occurrence,
       v.kind, category.text, comment.text, value.hash, value.size, value.media_type, value.text, v.sequence,
       v.created_at, location.text, attributes.text, operation.id, before.id
FROM past CROSS JOIN variable AS v ON v.k = past.k
     CROSS JOIN trace AS t ON t.k = v.trace_k
     CROSS JOIN text AS external ON external.k = v.external_k
     CROSS JOIN text AS name ON name.k = v.name_k
     CROSS JOIN text AS attributes ON attributes.k = v.attributes_k
     CROSS JOIN value ON value.k = v.value_k
     LEFT JOIN text AS class ON class.k = v.class_k
     LEFT JOIN text AS category ON category.k = v.category_k
     LEFT JOIN text AS comment ON comment.k = v.comment_k
     LEFT JOIN text AS location ON location.k = v.location_k
     LEFT JOIN session ON session.k = v.session_k
     LEFT JOIN operation ON operation.k = v.operation_k
     LEFT JOIN variable AS before ON before.k = v.revision_k
UNION ALL
SELECT 'derivation', d.id, t.project, t.id, source.id, target.id, operation.id, d.external_id, d.kind, category.text,
       comment.text, d.sequence, d.created_at, location.text, attributes.text,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM past CROSS JOIN derivation AS d ON d.target_k = past.k
     CROSS JOIN trace AS t ON t.k = d.trace_k
     CROSS JOIN variable AS source ON source.k = d.source_k
     CROSS JOIN variable AS target ON target.k = d.target_k
     CROSS JOIN operation ON operation.k = d.operation_k
     CROSS JOIN text AS attributes ON attributes.k = d.attributes_k
     LEFT JOIN text AS category ON category.k = d.category_k
     LEFT JOIN text AS comment ON comment.k = d.comment_k
     LEFT JOIN text AS location ON location.k = d.location_k
