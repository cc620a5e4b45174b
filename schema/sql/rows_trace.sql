SELECT t.k, t.id, t.external_id, t.name, t.source, t.created_at, t.attributes
FROM carray(:keys) AS wanted CROSS JOIN trace AS t ON t.k = wanted.value
WHERE t.project = :project
