-- name: of_label
SELECT {{kind}}, count(*) FROM trace AS t JOIN {{table}} AS x ON x.trace_k = t.k
WHERE t.project = :project AND (:trace IS NULL OR t.id = unhex(:trace))
GROUP BY 1
ORDER BY 1

-- name: right
SELECT count(*) FROM trace AS t JOIN variable AS x ON x.trace_k = t.k
WHERE t.project = :project AND (:trace IS NULL OR t.id = unhex(:trace)) AND x.is_right = 1

-- name: by_trace
SELECT t.k, 1, (SELECT count(*) FROM session AS x WHERE x.trace_k = t.k),
       (SELECT count(*) FROM operation AS x WHERE x.trace_k = t.k),
       (SELECT count(*) FROM variable AS x WHERE x.trace_k = t.k),
       (SELECT count(*) FROM derivation AS x WHERE x.trace_k = t.k),
       (SELECT count(*) FROM failure AS x WHERE x.trace_k = t.k),
       (SELECT count(*) FROM attribution AS x WHERE x.trace_k = t.k)
FROM carray(:keys) AS wanted CROSS JOIN trace AS t ON t.k = wanted.value
WHERE t.project = :project

-- name: traces
SELECT NULL, count(*) FROM trace WHERE project = :project AND (:trace IS NULL OR id = unhex(:trace))

-- name: file_bytes
SELECT count.page_count * size.page_size FROM pragma_page_count AS count, pragma_page_size AS size

-- name: value_bytes
SELECT coalesce(sum(length(data)), 0) FROM pack
