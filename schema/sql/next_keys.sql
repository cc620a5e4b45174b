SELECT (SELECT coalesce(max(k), 0) FROM trace), (SELECT coalesce(max(k), 0) FROM text),
       (SELECT coalesce(max(k), 0) FROM pack), (SELECT coalesce(max(k), 0) FROM value),
       (SELECT coalesce(max(k), 0) FROM session), (SELECT coalesce(max(k), 0) FROM operation),
       (SELECT coalesce(max(k), 0) FROM variable), (SELECT coalesce(max(k), 0) FROM derivation),
       (SELECT coalesce(max(k), 0) FROM failure), (SELECT coalesce(max(k), 0) FROM attribution)
