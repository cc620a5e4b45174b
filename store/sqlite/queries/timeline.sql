SELECT 'Trace', '', (created_at - :start) / :width, count(*)
FROM trace
WHERE project = :project AND created_at >= :start AND created_at < :end
GROUP BY 3
UNION ALL
SELECT 'Failure', '', (x.created_at - :start) / :width, count(*)
FROM trace AS t CROSS JOIN failure AS x ON x.trace_k = t.k
WHERE t.project = :project AND x.created_at >= :start AND x.created_at < :end
GROUP BY 3
UNION ALL
SELECT 'Attribution', coalesce(x.error_type, ''), (x.created_at - :start) / :width, count(*)
FROM trace AS t CROSS JOIN attribution AS x ON x.trace_k = t.k
WHERE t.project = :project AND x.created_at >= :start AND x.created_at < :end
GROUP BY 2, 3
