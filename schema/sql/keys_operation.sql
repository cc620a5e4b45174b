SELECT x.k, x.id FROM json_each(:ids) AS wanted CROSS JOIN operation AS x ON x.id = unhex(wanted.value)
     CROSS JOIN trace AS t ON t.k = x.trace_k
WHERE t.project = :project
