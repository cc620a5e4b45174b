SELECT t.k, 1, (SELECT count(*) FROM session AS x WHERE x.trace_k = t.k),
       (SELECT count(*) FROM operation AS x WHERE x.trace_k = t.k),
       (SELECT count(*) FROM variable AS x WHERE x.trace_k = t.k),
       (SELECT count(*) FROM derivation AS x WHERE x.trace_k = t.k),
       (SELECT count(*) FROM failure AS x WHERE x.trace_k = t.k),
       (SELECT count(*) FROM attribution AS x WHERE x.trace_k = t.k)
FROM carray(:keys) AS wanted CROSS JOIN trace AS t ON t.k = wanted.value
WHERE t.project = :project
