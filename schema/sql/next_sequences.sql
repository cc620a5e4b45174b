SELECT (SELECT coalesce(max(sequence) + 1, 0) FROM session WHERE trace_k = t.k),
       (SELECT coalesce(max(sequence) + 1, 0) FROM operation WHERE trace_k = t.k),
       (SELECT coalesce(max(sequence) + 1, 0) FROM variable WHERE trace_k = t.k),
       (SELECT coalesce(max(sequence) + 1, 0) FROM derivation WHERE trace_k = t.k)
FROM trace AS t
WHERE t.id = unhex(:trace) AND t.project = :project
