UPDATE retention_policy
SET due_at = :again_at
WHERE project = (
    SELECT project FROM retention_policy
    WHERE due_at <= :now AND (:projects IS NULL OR project IN (SELECT value FROM json_each(:projects)))
    ORDER BY due_at, project
    LIMIT 1
)
RETURNING project, days, traces, changed_at, changed_by, due_at
