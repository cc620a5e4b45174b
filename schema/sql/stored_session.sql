SELECT x.k, x.id FROM json_each(:ids) AS wanted CROSS JOIN session AS x ON x.id = unhex(wanted.value)
WHERE x.trace_k = :trace_k
