-- name: keys
SELECT (SELECT coalesce(max(k), 0) FROM trace), (SELECT coalesce(max(k), 0) FROM text),
       (SELECT coalesce(max(k), 0) FROM pack), (SELECT coalesce(max(k), 0) FROM value),
       (SELECT coalesce(max(k), 0) FROM session), (SELECT coalesce(max(k), 0) FROM operation),
       (SELECT coalesce(max(k), 0) FROM variable), (SELECT coalesce(max(k), 0) FROM derivation),
       (SELECT coalesce(max(k), 0) FROM failure), (SELECT coalesce(max(k), 0) FROM attribution)

-- name: sequences
SELECT (SELECT coalesce(max(sequence) + 1, 0) FROM session WHERE trace_k = t.k),
       (SELECT coalesce(max(sequence) + 1, 0) FROM operation WHERE trace_k = t.k),
       (SELECT coalesce(max(sequence) + 1, 0) FROM variable WHERE trace_k = t.k),
       (SELECT coalesce(max(sequence) + 1, 0) FROM derivation WHERE trace_k = t.k)
FROM trace AS t
WHERE t.id = unhex(:trace) AND t.project = :project
