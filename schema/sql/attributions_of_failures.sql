SELECT a.k FROM json_each(:ids) AS wanted CROSS JOIN failure AS f ON f.id = unhex(wanted.value)
     CROSS JOIN trace AS t ON t.k = f.trace_k CROSS JOIN attribution AS a ON a.failure_k = f.k
WHERE t.project = :project
